// Finds out what the description of the service leaves open, with calls that change nothing: how searches by period work,
// whether listings are cut off, how many vehicles an event query takes, how tokens are renewed, and how late plans are
// listed after their import. The answers are stored, so that the next probe notices a change.
import { asRoadbookError, Skippable } from '../../core/errors.ts';
import { type Clock, isoInstant } from '../../core/time/clock.ts';
import { formatDuration } from '../../core/time/durations.ts';
import type { Fleet } from '../../fleet/client.ts';
import { events } from '../../fleet/endpoints/events.ts';
import { routePlans } from '../../fleet/endpoints/route-plans.ts';
import { vehicles } from '../../fleet/endpoints/vehicles.ts';
import { toInstant } from '../../fleet/instants.ts';
import { factMemory } from '../../warehouse/control/learned-facts.ts';
import type { Engine } from '../../warehouse/engine.ts';
import { slowestListing } from '../../warehouse/outbox/lists.ts';
import { chunksFor } from '../pull/plan/chunks.ts';
import { type KnownRecord, LEAST_LENGTH_MS, type PeriodSearch, probePeriodSearch } from './period-search.ts';

/** The questions, in the order of the report. */
export const QUESTIONS = {
  plan_search: 'a search of plans by period finds them by',
  plan_period_ends: 'ends of the period that belong to a search of plans',
  plan_listing: 'a listing of plans is cut off at',
  event_search: 'a search of events by period finds them by',
  event_period_ends: 'ends of the period that belong to a search of events',
  event_listing: 'a listing of events is cut off at',
  vehicle_ids: 'vehicles in one event query',
  renewal: 'a token is renewed by',
  import_delay: 'a plan is listed after its import within',
} as const;

export type Question = keyof typeof QUESTIONS;

export interface ProbeAnswer {
  question: Question;
  /** In one or few words, comparable with the answer of another day; null if nothing shows it. */
  answer: string | null;
  /** What the answer is based on, or why there is none. */
  evidence: string;
  /** The earlier answer, if it was another one. */
  was?: string;
}

export interface ProbeReport {
  at: string;
  calls: number;
  answers: ProbeAnswer[];
}

interface StoredProbe {
  at: string;
  answers: Partial<Record<Question, string>>;
}

export interface ProbeDependencies {
  fleet: Pick<Fleet, 'call' | 'urlBytes' | 'workingRenewals'>;
  engine: Engine;
  clock: Clock;
  signal?: AbortSignal;
}

const DAY_MS = 86_400_000;
/** How far back the probe looks for a plan and an event. */
const REACH_MS = 7 * DAY_MS;
/** Trips are the events that every moving vehicle has. */
const TRIP = 1;
const DELAY_DAYS = 30;

const probeMemory = (engine: Engine) => factMemory<StoredProbe>(engine, 'service probe');

export async function probeService({ fleet, engine, clock, signal }: ProbeDependencies): Promise<ProbeReport> {
  let calls = 0;
  const context = { signal, onRequest: () => void calls++ };
  const now = clock.now();
  const answers: ProbeAnswer[] = [];
  const add = (question: Question, answer: string | null, evidence: string) =>
    answers.push({ question, answer, evidence });

  const week = { begin: now - REACH_MS, end: now };
  const searchPlans = async (begin: number, end: number, vehicle?: number): Promise<Found[]> =>
    foundIn(
      await fleet.call(
        routePlans,
        { begin_date: isoInstant(begin), end_date: isoInstant(end), ...(vehicle && { vehicle_id: vehicle }) },
        context,
      ),
      ['date_time_start', 'date_time_end'],
    );
  const searchEvents = async (begin: number, end: number, vehicles_id: number[]): Promise<Found[]> =>
    foundIn(
      await fleet.call(
        events,
        { periods: [{ begin: isoInstant(begin), end: isoInstant(end) }], event_category: TRIP, vehicles_id },
        context,
      ),
      ['begin_date', 'end_date'],
    );

  const plans = await searchPlans(week.begin, week.end);
  const plan = usableFor(plans, now);
  if (plan === undefined) {
    const why = `no plan of the last 7 days has ended and lasted ${formatDuration(LEAST_LENGTH_MS)}`;
    for (const question of ['plan_search', 'plan_period_ends'] as const) add(question, null, why);
  } else {
    const finds = async (begin: number, end: number): Promise<boolean> =>
      includes(await searchPlans(begin, end, plan.vehicleId), plan);
    addSearch('plan_search', 'plan_period_ends', await probePeriodSearch(finds, plan), `plan ${plan.id}`);
  }
  add('plan_listing', ...(await limitOf(plans, week, (begin, end) => searchPlans(begin, end))));

  const fleetIds = idsIn(await fleet.call(vehicles, { includes: ['fleet'], visible: 2 }, context));
  const driven = plan?.vehicleId ?? fleetIds[0];
  const trips = driven === undefined ? [] : await searchEvents(week.begin, week.end, [driven]);
  const trip = usableFor(trips, now);
  if (driven === undefined || trip === undefined) {
    const why = 'no vehicle with a trip in the last 7 days was found';
    for (const question of ['event_search', 'event_period_ends', 'event_listing'] as const) add(question, null, why);
  } else {
    const finds = async (begin: number, end: number): Promise<boolean> =>
      includes(await searchEvents(begin, end, [driven]), trip);
    addSearch('event_search', 'event_period_ends', await probePeriodSearch(finds, trip), `trip ${trip.id}`);
    add('event_listing', ...(await limitOf(trips, week, (begin, end) => searchEvents(begin, end, [driven]))));
  }
  add('vehicle_ids', ...(await mostVehicles(fleetIds)));
  const renewals = await fleet.workingRenewals(context);
  add('renewal', renewals.join(', ') || 'login', `${renewals.length} of the forms that were tried were accepted`);
  add('import_delay', ...(await delayOfImports()));
  await compareAndStore();
  return { at: isoInstant(now), calls, answers };

  function addSearch(search: Question, ends: Question, found: PeriodSearch, record: string): void {
    const evidence = `searches around ${record}`;
    add(search, found.meaning === 'unclear' ? null : found.meaning, evidence);
    add(ends, found.ends === 'unclear' ? null : found.ends, evidence);
  }

  /** As many as fit into a URL, then half as many, until the service accepts them. */
  async function mostVehicles(ids: readonly number[]): Promise<[string | null, string]> {
    const day = { begin: isoInstant(now - DAY_MS), end: isoInstant(now) };
    const request = (some: number[]) => ({ periods: [day], event_category: TRIP, vehicles_id: some });
    const [most = []] = chunksFor(ids, ids.length, (some) => fleet.urlBytes(events, request(some)));
    if (most.length === 0) return [null, 'no vehicle is listed'];
    let [accepted, rejected] = [0, most.length + 1];
    for (let size = most.length; size > accepted; size = Math.floor((accepted + rejected) / 2)) {
      const failure = await failureOf(fleet.call(events, request(most.slice(0, size)), context));
      if (failure === undefined) accepted = size;
      else rejected = size;
    }
    if (accepted === most.length) return [`at least ${accepted}`, 'as many as exist, or as fit into a URL'];
    return [`${accepted}`, `${rejected} were rejected`];
  }

  async function delayOfImports(): Promise<[string | null, string]> {
    const { plans, delayMs } = await slowestListing(engine, isoInstant(now - DELAY_DAYS * DAY_MS));
    if (plans === 0) return [null, `no plan that was sent in the last ${DELAY_DAYS} days has been listed since`];
    return [`${Math.ceil(delayMs / 60_000)}m`, `the slowest of ${plans} plans`];
  }

  /** An answer that is not known this time does not replace a stored one. */
  async function compareAndStore(): Promise<void> {
    const stored = await probeMemory(engine).read();
    for (const each of answers) {
      const was = stored?.answers[each.question];
      if (was !== undefined && each.answer !== null && was !== each.answer && !hasGrown(each, was)) each.was = was;
    }
    const known = answers.flatMap(({ question, answer }) => (answer === null ? [] : [[question, answer]]));
    const fact = { at: isoInstant(now), answers: { ...stored?.answers, ...Object.fromEntries(known) } };
    await probeMemory(engine).write(fact, now);
  }
}

/** Another answer of these may only follow the size of the fleet or of the history. */
const hasGrown = ({ question, answer }: ProbeAnswer, was: string): boolean =>
  question === 'import_delay' || [answer, was].every((each) => each?.startsWith('at least '));

interface Found extends KnownRecord {
  id: number;
  vehicleId?: number;
}

/** The records with an identifier; start and end are NaN where they cannot be read. */
function foundIn(records: readonly unknown[], [start, end]: [string, string]): Found[] {
  return records.flatMap((record) => {
    const fields = record as Record<string, unknown>;
    const id = Number(fields.id);
    const at = (field: string) => Date.parse(toInstant(String(fields[field])) ?? '');
    const vehicleId = Number(fields.vehicle_id) || undefined;
    return Number.isSafeInteger(id) ? [{ id, vehicleId, start: at(start), end: at(end) }] : [];
  });
}

const idsIn = (records: readonly unknown[]): number[] =>
  foundIn(records, ['date_created', 'date_created']).map(({ id }) => id);

const includes = (found: readonly Found[], { id }: Found): boolean => found.some((each) => each.id === id);

/** The longest that has ended: only such a record stays as it is during the probe. */
function usableFor(found: readonly Found[], now: number): Found | undefined {
  const usable = found.filter(({ start, end }) => end - start >= LEAST_LENGTH_MS && end < now - DAY_MS / 24);
  return usable.toSorted((a, b) => b.end - b.start - (a.end - a.start))[0];
}

/** A listing is cut off if two listings of its halves show records that it lacks, also when it is repeated. */
async function limitOf(
  whole: readonly Found[],
  { begin, end }: { begin: number; end: number },
  search: (begin: number, end: number) => Promise<Found[]>,
): Promise<[string | null, string]> {
  const middle = begin + (end - begin) / 2;
  const halves = [...(await search(begin, middle)), ...(await search(middle, end))];
  const isCut = (listed: readonly Found[]): boolean => halves.some((each) => !includes(listed, each));
  if (isCut(whole)) {
    const again = await search(begin, end);
    if (isCut(again)) return [`${again.length} records`, 'listings of shorter periods show more'];
  }
  if (whole.length === 0) return [null, 'the last 7 days have no record'];
  return ['no limit', `${whole.length} records, and listings of shorter periods show no more`];
}

/** Undefined if the call succeeded; a failure other than a rejection is thrown. */
async function failureOf(call: Promise<unknown>): Promise<Skippable | undefined> {
  try {
    await call;
    return undefined;
  } catch (thrown) {
    const error = asRoadbookError(thrown);
    if (error instanceof Skippable) return error;
    throw thrown;
  }
}
