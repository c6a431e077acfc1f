// What a fleet of a given size needs: calls against the rate of the account, rows, disk, concurrent requests, daemons.
// Pure arithmetic over the call budget, the rows of a day and the bytes of a row; no warehouse, no service.
import { SERVICE_LIMITS } from '../../config/sections/service.ts';
import { DAY_MS, formatDuration } from '../../core/time/durations.ts';
import { type BudgetJob, type CallBudget, FULL_SHARE, MINUTES_A_DAY, sum } from './call-budget.ts';
import { type FleetDay, rowsADay, type SizedTable } from './fleet-day.ts';

export interface SizingJob extends BudgetJob {
  tables: readonly string[];
  /** How many runs read the same record if runs are `periodMs` apart. */
  readsPerRecord(periodMs: number): number;
}

export interface SizingInput {
  day: FleetDay;
  engine: string;
  /** Whether daemons on this engine can share work. */
  hasQueueHome: boolean;
  /** Mean response time of the service, ms. */
  latencyMs: number;
  /** Mean size of a picture file, KB. */
  pictureKb: number;
  /** Concurrent requests of each daemon, as configured. */
  concurrency: number;
  /** Largest accepted response, MiB, as configured. */
  maxBodyMb: number;
  /** Retention by table, ms. Default: for ever. */
  retention: Readonly<Record<string, number>>;
}

const DAYS_A_YEAR = 365;
const GB = 1e9;
/** Records that one daemon reads: about a third of the figure in docs/explanation/performance.md, because runs come in bursts. */
const RECORDS_A_SECOND = 10_000;
/**
 * Records that all daemons on one PostgreSQL load together: about a third of the load stage in docs/explanation/performance.md. One
 * transaction loads at a time.
 */
const WRITER_RECORDS_A_SECOND = 20_000;
const MOST_DAEMONS = Math.ceil(WRITER_RECORDS_A_SECOND / RECORDS_A_SECOND);
/** The vehicle list is one response with about this much for each vehicle. */
const LISTED_VEHICLE_BYTES = 1_000;
const MIB = 1_048_576;
/** A larger single file is hard to back up and to move. */
const MOST_SQLITE_GB = 200;

export function sizing(jobs: readonly SizingJob[], budget: CallBudget, input: SizingInput) {
  const found = figuresOf(jobs, budget, input);
  const changes = [...(found.fits ? [] : changesOfRate(found)), ...changesOfMachines(found, input)];
  return { ...found, changes };
}

function figuresOf(jobs: readonly SizingJob[], budget: CallBudget, input: SizingInput) {
  const { day, latencyMs, pictureKb } = input;
  const rate = budget.requests_per_minute;
  const callsAMinute = budget.calls_per_day / MINUTES_A_DAY;
  const rows = rowsADay(day);
  const tables = tableSizes(rows, input);
  const records = recordsADay(jobs, budget, rows) / (DAY_MS / 1_000);
  return {
    vehicles: day.vehicles,
    calls_a_minute: Math.round(callsAMinute),
    requests_per_minute: rate,
    share: budget.share,
    /** The rate that the schedules need, with room to catch up. */
    requests_per_minute_needed: Math.ceil(callsAMinute / FULL_SHARE),
    rows_a_day: Math.round(sum(Object.values(rows))),
    gb_a_year: rounded(sum(tables.map(({ gb }) => gb))),
    picture_gb_a_year: rounded((day.vehicles * day.picturesADay * pictureKb * 1e3 * DAYS_A_YEAR) / GB),
    /** Records read, unchanged ones included. This and the following fields assume that the schedules are kept. */
    records_a_second: Math.round(records),
    concurrency_needed: Math.ceil(((callsAMinute / 60) * (latencyMs / 1_000)) / FULL_SHARE),
    /** Share of the capacity of the single writer of a PostgreSQL warehouse; 1 is all of it. */
    writer_share: rounded(records / WRITER_RECORDS_A_SECOND),
    daemons: Math.min(MOST_DAEMONS, Math.max(1, Math.ceil(records / RECORDS_A_SECOND))),
    fits: budget.share <= FULL_SHARE,
    tables,
    slower: slowerSchedules(jobs, budget),
  };
}

/**
 * Bytes of a row on the disk, including its share of the indexes. Measured on the data of a sandbox with 250 vehicles over
 * 14 days (node test/support/measure/row-bytes.ts 250 14). A test measures a sample again.
 */
const MEASURED: Readonly<Record<SizedTable, { sqlite: number; postgres: number }>> = {
  checklist: { sqlite: 520, postgres: 630 },
  checklist_answer: { sqlite: 460, postgres: 590 },
  daily_summary: { sqlite: 270, postgres: 430 },
  event: { sqlite: 440, postgres: 450 },
  image: { sqlite: 450, postgres: 560 },
  route_plan: { sqlite: 450, postgres: 480 },
  route_point: { sqlite: 330, postgres: 360 },
  route_point_execution: { sqlite: 330, postgres: 300 },
  route_point_item: { sqlite: 140, postgres: 190 },
  status_change: { sqlite: 170, postgres: 180 },
};

/** An engine without a measurement counts as PostgreSQL, which needs the most. */
export const rowBytes = (engine: string, table: SizedTable): number =>
  MEASURED[table][engine === 'sqlite' ? 'sqlite' : 'postgres'];

function tableSizes(rows: Record<SizedTable, number>, { engine, retention }: SizingInput) {
  return (Object.entries(rows) as [SizedTable, number][]).map(([table, count]) => {
    const bytes = rowBytes(engine, table);
    const days = Math.min(DAYS_A_YEAR, (retention[table] ?? Number.POSITIVE_INFINITY) / DAY_MS);
    return {
      table,
      rows_a_day: Math.round(count),
      bytes_a_row: bytes,
      /** Size after a year, or after the retention period if that is shorter. */
      gb: rounded((count * bytes * days) / GB),
    };
  });
}

/** New rows of a day, each counted as often as its job reads it. */
function recordsADay(
  jobs: readonly SizingJob[],
  { jobs: budgets }: CallBudget,
  rows: Readonly<Record<string, number>>,
): number {
  const each = jobs.map((job) => {
    const runs = budgets.find(({ name }) => name === job.name)?.runs_per_day ?? 0;
    if (runs === 0) return 0;
    // A picture is fetched once; a status change is derived, not read.
    const own = job.tables.filter((table) => table !== 'image' && table !== 'status_change');
    return sum(own.map((table) => rows[table] ?? 0)) * Math.max(1, job.readsPerRecord(DAY_MS / runs));
  });
  return sum(each);
}

type Figures = ReturnType<typeof figuresOf>;

function changesOfRate(found: Figures): string[] {
  const slower = found.slower.map(({ job, every }) => `${job} every ${every}`);
  return [
    found.requests_per_minute_needed > SERVICE_LIMITS.requestsPerMinute
      ? `These schedules need ${found.requests_per_minute_needed} requests a minute, more than the configuration accepts for one account`
      : `Have the rate of the account raised and set service.requests_per_minute to ${found.requests_per_minute_needed}`,
    slower.length === 0
      ? 'No slower schedule fits the current rate: divide the fleet over several accounts'
      : `Or keep the rate and run less often: ${slower.join(', ')}`,
    'A shorter settle or lookback of the most expensive jobs saves calls in proportion',
  ];
}

function changesOfMachines(found: Figures, input: SizingInput): string[] {
  const { hasQueueHome, concurrency, latencyMs, maxBodyMb } = input;
  const changes: string[] = [];
  const listingMb = Math.ceil((found.vehicles * LISTED_VEHICLE_BYTES) / MIB);
  if (listingMb > maxBodyMb) {
    changes.push(`Set service.max_body_mb to ${2 * listingMb}: the list of all vehicles is one response`);
  }
  const isLarge = found.gb_a_year > MOST_SQLITE_GB;
  const needed = Math.ceil(found.concurrency_needed / found.daemons);
  if (needed > concurrency) {
    const slots = Math.min(needed, SERVICE_LIMITS.concurrency);
    const rest = slots < needed ? ', the maximum' : '';
    changes.push(`Set service.concurrency to ${slots}${rest}: a response takes ${latencyMs} ms`);
  }
  if (!hasQueueHome && (found.daemons > 1 || isLarge)) {
    changes.push('Use PostgreSQL (warehouse.engine: postgres): one SQLite file is not enough for this fleet');
  }
  if (found.writer_share > 1) {
    changes.push(
      `Run less often, shorten lookback and settle, or divide the fleet over several warehouses: one writer at a time loads about ${WRITER_RECORDS_A_SECOND} records a second, with any number of daemons`,
    );
  } else if (found.daemons > 1) {
    changes.push(`Run ${found.daemons} daemons (scale: { dispatcher: pg-boss }), each on its own machine`);
  }
  if (isLarge) changes.push('Limit how long rows are kept: jobs.maintain-warehouse.retention');
  return changes;
}

const MINUTES = [2, 3, 5, 10, 15, 20, 30, 60, 120, 180, 240, 360, 720, 1_440];

/**
 * Longer periods with which all jobs together fit the rate; empty if they already fit, or if no period would make them fit. Each
 * step slows down the job with the most calls. A job that needs as many calls at any period, such as a push, is left alone.
 */
export function slowerSchedules(jobs: readonly BudgetJob[], budget: CallBudget) {
  const most = budget.requests_per_minute * MINUTES_A_DAY * FULL_SHARE;
  const state = budget.jobs.map(({ name, calls_per_day, runs_per_day }) => ({
    job: jobs.find((each) => each.name === name),
    name,
    calls: calls_per_day,
    periodMs: DAY_MS / Math.max(runs_per_day, 0.001),
    isSlower: false,
  }));
  while (sum(state.map(({ calls }) => calls)) > most) {
    const steps = state.flatMap((each) => {
      const next = MINUTES.find((minutes) => minutes * 60_000 > each.periodMs * 1.01);
      if (next === undefined || each.job === undefined) return [];
      const periodMs = next * 60_000;
      const calls = (each.job.callsOf(periodMs).calls * DAY_MS) / periodMs;
      return calls < each.calls * 0.99 ? [{ each, periodMs, calls }] : [];
    });
    const costliest = steps.toSorted((a, b) => b.each.calls - a.each.calls)[0];
    if (costliest === undefined) return [];
    Object.assign(costliest.each, { calls: costliest.calls, periodMs: costliest.periodMs, isSlower: true });
  }
  return state
    .filter(({ isSlower }) => isSlower)
    .map(({ name, calls, periodMs }) => ({
      job: name,
      /** The new period, as operators write it. */
      every: formatDuration(periodMs),
      calls_per_day: Math.round(calls),
    }));
}

const rounded = (number: number): number => Number(number.toFixed(number < 10 ? 2 : 0));
