// What a fleet of some size takes: calls against the rate of the account, rows, disk, requests at one time, daemons.
// Pure arithmetic over the call budget, the rows of a day and what a row takes; no warehouse, no service.
import { type BudgetJob, type CallBudget, FULL_SHARE } from './call-budget.ts';
import { type FleetDay, rowsADay } from './fleet-day.ts';
import { rowBytes } from './row-bytes.ts';
import { rateFor, type Slower, slowerSchedules } from './slower-schedules.ts';

export interface SizingJob extends BudgetJob {
  /** The tables it fills. */
  tables: readonly string[];
  /** How many runs meet a record, for runs so far apart. */
  readingsOf(periodMs: number): number;
}

export interface SizingAsked {
  day: FleetDay;
  /** Name of the warehouse's engine. */
  engine: string;
  /** Whether daemons on this engine can share work. */
  hasQueueHome: boolean;
  /** Mean time that the service takes to answer, ms. */
  latencyMs: number;
  /** Mean size of a picture file, KB. */
  pictureKb: number;
  /** Requests at one time in each daemon, as configured. */
  concurrency: number;
  /** Largest answer that is read, MiB, as configured. */
  maxBodyMb: number;
  /** The most that a configuration may ask for. */
  most: { concurrency: number; requestsPerMinute: number };
  /** How long rows are kept, ms, by table; for ever unless told. */
  retention: Readonly<Record<string, number>>;
}

export interface TableSize {
  table: string;
  rows_a_day: number;
  bytes_a_row: number;
  /** After a year, or as soon as retention holds it there. */
  gb: number;
}

export interface Sizing {
  vehicles: number;
  calls_a_minute: number;
  requests_per_minute: number;
  /** Of what the rate allows, 1 being all of it. */
  share: number;
  /** What the schedules would need, with room to catch up. */
  requests_per_minute_needed: number;
  rows_a_day: number;
  gb_a_year: number;
  picture_gb_a_year: number;
  /** Records met, rows that did not change included. This and what follows is for schedules that are kept. */
  records_a_second: number;
  /** Of what the one writer of a PostgreSQL warehouse loads, 1 being all of it. */
  writer_share: number;
  concurrency_needed: number;
  daemons: number;
  fits: boolean;
  tables: TableSize[];
  /** Longer periods by which the schedules would fit the rate as it is; empty where they do. */
  slower: Slower[];
  /** What to change, in words. */
  changes: string[];
}

const DAY_MS = 86_400_000;
const DAYS_A_YEAR = 365;
const GB = 1e9;
/**
 * Records that one daemon takes in, about a third of what docs/explanation/performance.md shows: runs come in bursts.
 */
const RECORDS_A_SECOND = 10_000;
/**
 * Records that all daemons on one PostgreSQL compare and load, about a third of its load stage in
 * docs/explanation/performance.md:
 * that is done by one transaction at a time.
 */
const WRITER_RECORDS_A_SECOND = 20_000;
const MOST_DAEMONS = Math.ceil(WRITER_RECORDS_A_SECOND / RECORDS_A_SECOND);
/** The listing of vehicles is one answer, with about so much for each of them. */
const LISTED_VEHICLE_BYTES = 1_000;
const MIB = 1_048_576;
/** From here on a single file is unwieldy to back up and to move. */
const MOST_SQLITE_GB = 200;

export function sizing(jobs: readonly SizingJob[], budget: CallBudget, asked: SizingAsked): Sizing {
  const { day, latencyMs, pictureKb } = asked;
  const rate = budget.requests_per_minute;
  const callsAMinute = budget.calls_per_day / 1_440;
  const rows = rowsADay(day);
  const tables = tableSizes(rows, asked);
  const records = recordsADay(jobs, budget, rows) / (DAY_MS / 1_000);
  const base = {
    vehicles: day.vehicles,
    calls_a_minute: Math.round(callsAMinute),
    requests_per_minute: rate,
    share: budget.share,
    requests_per_minute_needed: rateFor(budget.calls_per_day),
    rows_a_day: Math.round(sum(Object.values(rows))),
    gb_a_year: rounded(sum(tables.map(({ gb }) => gb))),
    picture_gb_a_year: rounded((day.vehicles * day.picturesADay * pictureKb * 1e3 * DAYS_A_YEAR) / GB),
    records_a_second: Math.round(records),
    concurrency_needed: Math.ceil(((callsAMinute / 60) * (latencyMs / 1_000)) / FULL_SHARE),
    writer_share: rounded(records / WRITER_RECORDS_A_SECOND),
    daemons: Math.min(MOST_DAEMONS, Math.max(1, Math.ceil(records / RECORDS_A_SECOND))),
    fits: budget.share <= FULL_SHARE,
    tables,
    slower: slowerSchedules(jobs, budget),
  };
  return { ...base, changes: changesFor(base, asked) };
}

function tableSizes(rows: Record<string, number>, { engine, retention }: SizingAsked): TableSize[] {
  return Object.entries(rows).map(([table, count]) => {
    const bytes = rowBytes(engine, table);
    const days = Math.min(DAYS_A_YEAR, (retention[table] ?? Number.POSITIVE_INFINITY) / DAY_MS);
    return {
      table,
      rows_a_day: Math.round(count),
      bytes_a_row: bytes,
      gb: rounded((count * bytes * days) / GB),
    };
  });
}

/** New rows, each as often as the job that brings it reads it. */
function recordsADay(
  jobs: readonly SizingJob[],
  { jobs: budgets }: CallBudget,
  rows: Record<string, number>,
): number {
  const each = jobs.map((job) => {
    const runs = budgets.find(({ name }) => name === job.name)?.runs_per_day ?? 0;
    if (runs === 0) return 0;
    // A picture is fetched once, a change of status is not read at all.
    const own = job.tables.filter((table) => table !== 'image' && table !== 'status_change');
    return sum(own.map((table) => rows[table] ?? 0)) * Math.max(1, job.readingsOf(DAY_MS / runs));
  });
  return sum(each);
}

type Found = Omit<Sizing, 'changes'>;

const changesFor = (found: Found, asked: SizingAsked): string[] => [
  ...(found.fits ? [] : changesOfRate(found, asked)),
  ...changesOfMachines(found, asked),
];

function changesOfRate(found: Found, { most }: SizingAsked): string[] {
  const slower = found.slower.map(({ job, every }) => `${job} every ${every}`);
  return [
    found.requests_per_minute_needed > most.requestsPerMinute
      ? `These schedules need ${found.requests_per_minute_needed} requests a minute, more than one account can be set to`
      : `Have the rate of the account raised and set service.requests_per_minute to ${found.requests_per_minute_needed}`,
    slower.length === 0
      ? 'At the rate as it is, no slower schedule fits: divide the fleet over several accounts'
      : `Or keep the rate and run less often: ${slower.join(', ')}`,
    'A shorter settle or lookback of the dearest jobs saves calls in proportion',
  ];
}

function changesOfMachines(found: Found, asked: SizingAsked): string[] {
  const { hasQueueHome, concurrency, latencyMs, maxBodyMb, most } = asked;
  const changes: string[] = [];
  const listingMb = Math.ceil((found.vehicles * LISTED_VEHICLE_BYTES) / MIB);
  if (listingMb > maxBodyMb) {
    changes.push(`Set service.max_body_mb to ${2 * listingMb}: the list of all vehicles is one answer`);
  }
  const isLarge = found.gb_a_year > MOST_SQLITE_GB;
  const needed = Math.ceil(found.concurrency_needed / found.daemons);
  if (needed > concurrency) {
    const slots = Math.min(needed, most.concurrency);
    const rest = slots < needed ? ', the most there is' : '';
    changes.push(`Set service.concurrency to ${slots}${rest}: an answer takes ${latencyMs} ms`);
  }
  if (!hasQueueHome && (found.daemons > 1 || isLarge)) {
    changes.push('Use PostgreSQL (warehouse.engine: postgres): one file is too little for this');
  }
  if (found.writer_share > 1) {
    changes.push(
      `Run less often, shorten lookback and settle, or divide the fleet over several warehouses: one writer at a time loads about ${WRITER_RECORDS_A_SECOND} records a second, however many daemons there are`,
    );
  } else if (found.daemons > 1) {
    changes.push(`Run ${found.daemons} daemons (scale: { dispatcher: pg-boss }) on machines of their own`);
  }
  if (isLarge) changes.push('Limit how long rows are kept: jobs.maintain-warehouse.retention');
  return changes;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

const rounded = (number: number): number => Number(number.toFixed(number < 10 ? 2 : 0));
