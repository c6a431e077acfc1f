// Finds out what the description of the service leaves open, with calls that change nothing: how searches by period work,
// whether listings are cut off, how many vehicles an event query takes, how tokens are renewed, and how late plans are
// listed after their import. The answers are stored, so that the next probe notices a change.
import { asRoadbookError, Skippable } from '../../core/errors.ts';
import { type Clock, isoInstant } from '../../core/time/clock.ts';
import { formatDuration } from '../../core/time/durations.ts';
import type { CallContext, Fleet } from '../../fleet/client.ts';
import { events } from '../../fleet/endpoints/events.ts';
import { routePlans } from '../../fleet/endpoints/route-plans.ts';
import { vehicles } from '../../fleet/endpoints/vehicles.ts';
import { toInstant } from '../../fleet/instants.ts';
import type { Engine } from '../../warehouse/engine.ts';
import { slowestListing } from '../../warehouse/outbox/lists.ts';
import { chunksFor } from '../pull/plan/chunks.ts';
import { type Answer, atLeast, type ProbeAnswer, QUESTIONS, type Question, storeAnswers } from './answers.ts';
import { type KnownRecord, LEAST_LENGTH_MS, probePeriodSearch } from './period-search.ts';

export interface ProbeReport {
  at: string;
  calls: number;
  answers: ProbeAnswer[];
}

export interface ProbeDependencies {
  fleet: Pick<Fleet, 'call' | 'urlBytes' | 'workingRenewals'>;
  engine: Engine;
  clock: Clock;
}

export interface ProbeOptions {
  /** A person sees the report: the next probe compares with its answers. */
  isSeen: boolean;
  /** How the calls are made. */
  calling?: CallContext;
}

/** Most calls of a probe, retries not counted. */
export const MOST_PROBE_CALLS = 40;

const DAY_MS = 86_400_000;
/** How far back the probe looks for a plan and an event. */
const REACH_MS = 7 * DAY_MS;
/** Trips are the events that every moving vehicle has. */
const TRIP = 1;
const DELAY_DAYS = 30;

export async function probeService(
  { fleet, engine, clock }: ProbeDependencies,
  { isSeen, calling = {} }: ProbeOptions,
): Promise<ProbeReport> {
  let calls = 0;
  const onRequest = (): void => {
    calls++;
    calling.onRequest?.();
  };
  const nowMs = clock.now();
  const found = await askAll({ fleet, engine, nowMs, calling: { ...calling, onRequest } });
  const answers = (Object.keys(QUESTIONS) as Question[]).map((question) => {
    const [answer, evidence] = found[question];
    return { question, answer, evidence };
  });
  return { at: isoInstant(nowMs), calls, answers: await storeAnswers(engine, answers, { nowMs, isSeen }) };
}

interface Asking extends Pick<ProbeDependencies, 'fleet' | 'engine'> {
  nowMs: number;
  calling: CallContext;
}

async function askAll(asking: Asking): Promise<Record<Question, Answer>> {
  const plans = await askSearch(asking, {
    search: (begin, end, vehicle) => searchPlans(asking, begin, end, vehicle),
    name: 'plan',
    none: `no plan of the last 7 days has ended and lasted ${formatDuration(LEAST_LENGTH_MS)}`,
  });
  const fleetIds = await vehicleIds(asking);
  const driven = plans.record?.vehicleId ?? fleetIds[0];
  const trips = await askSearch(asking, {
    search: async (begin, end) => (driven === undefined ? [] : searchTrips(asking, begin, end, [driven])),
    name: 'trip',
    none: 'no vehicle with a trip in the last 7 days was found',
  });
  return {
    plan_search: plans.meaning,
    plan_period_ends: plans.ends,
    plan_listing: plans.limit,
    event_search: trips.meaning,
    event_period_ends: trips.ends,
    event_listing: trips.limit,
    vehicle_ids: await mostVehicles(asking, fleetIds),
    renewal: await renewalForms(asking),
    import_delay: await delayOfImports(asking),
  };
}

interface Found extends KnownRecord {
  id: number;
  vehicleId?: number;
}

/** Lists the records of a period, of one vehicle if the search can be narrowed. */
type Search = (begin: number, end: number, vehicle?: number) => Promise<Found[]>;

async function searchPlans({ fleet, calling }: Asking, begin: number, end: number, vehicle?: number) {
  const period = { begin_date: isoInstant(begin), end_date: isoInstant(end) };
  const request = { ...period, ...(vehicle !== undefined && { vehicle_id: vehicle }) };
  return foundIn(await fleet.call(routePlans, request, calling), ['date_time_start', 'date_time_end']);
}

const tripsOf = (begin: number, end: number, vehicles_id: number[]) => ({
  periods: [{ begin: isoInstant(begin), end: isoInstant(end) }],
  event_category: TRIP,
  vehicles_id,
});

const searchTrips = async ({ fleet, calling }: Asking, begin: number, end: number, vehicles_id: number[]) =>
  foundIn(await fleet.call(events, tripsOf(begin, end, vehicles_id), calling), ['begin_date', 'end_date']);

async function vehicleIds({ fleet, calling }: Asking): Promise<number[]> {
  const listed = await fleet.call(vehicles, { includes: ['fleet'], visible: 2 }, calling);
  return listed.map((record) => Number((record as { id: unknown }).id)).filter(Number.isSafeInteger);
}

/** The three questions about a search by period, and the record that answered them. */
async function askSearch({ nowMs }: Asking, { search, name, none }: { search: Search; name: string; none: string }) {
  const week = { begin: nowMs - REACH_MS, end: nowMs };
  const listed = await search(week.begin, week.end);
  const record = usableOf(listed, nowMs);
  const limit = await limitOf(listed, week, search);
  if (record === undefined) return { meaning: [null, none] as const, ends: [null, none] as const, limit };
  const finds = async (begin: number, end: number): Promise<boolean> =>
    includes(await search(begin, end, record.vehicleId), record);
  const { meaning, ends } = await probePeriodSearch(finds, record);
  const answer = (word: string): Answer => [word === 'unclear' ? null : word, `searches around ${name} ${record.id}`];
  return { meaning: answer(meaning), ends: answer(ends), limit, record };
}

/** A listing is cut off if two listings of its halves show records that it lacks, also when it is repeated. */
async function limitOf(
  whole: readonly Found[],
  { begin, end }: { begin: number; end: number },
  search: Search,
): Promise<Answer> {
  if (whole.length === 0) return [null, 'the last 7 days have no record'];
  const middle = begin + (end - begin) / 2;
  const halves = [...(await search(begin, middle)), ...(await search(middle, end))];
  const isCut = (listed: readonly Found[]): boolean => halves.some((each) => !includes(listed, each));
  if (isCut(whole)) {
    const again = await search(begin, end);
    if (isCut(again)) return [`${again.length} records`, 'listings of shorter periods show more'];
  }
  return [`${atLeast(whole.length)} records`, 'listings of shorter periods show no more'];
}

/** As many as fit into a URL, then half as many, until the service accepts them. */
async function mostVehicles({ fleet, nowMs, calling }: Asking, ids: readonly number[]): Promise<Answer> {
  const request = (some: number[]) => tripsOf(nowMs - DAY_MS, nowMs, some);
  const [most = []] = chunksFor(ids, ids.length, (some) => fleet.urlBytes(events, request(some)));
  if (most.length === 0) return [null, 'no vehicle is listed'];
  let [accepted, rejected] = [0, most.length + 1];
  for (let size = most.length; size > accepted; size = Math.floor((accepted + rejected) / 2)) {
    if (await isRejected(fleet.call(events, request(most.slice(0, size)), calling))) rejected = size;
    else accepted = size;
  }
  if (accepted === most.length) return [atLeast(accepted), 'as many as exist, or as fit into a URL'];
  return [`${accepted}`, `${rejected} were rejected`];
}

async function renewalForms({ fleet, calling }: Asking): Promise<Answer> {
  const forms = await fleet.workingRenewals(calling);
  if (forms === undefined) return [null, 'no clear answer to one of the forms'];
  return [forms.join(', ') || 'login', `${forms.length} of the forms that were tried were accepted`];
}

async function delayOfImports({ engine, nowMs }: Asking): Promise<Answer> {
  const { plans, delayMs } = await slowestListing(engine, isoInstant(nowMs - DELAY_DAYS * DAY_MS));
  if (plans === 0) return [null, `no plan that was sent in the last ${DELAY_DAYS} days has been listed since`];
  return [`${Math.ceil(delayMs / 60_000)}m`, `the slowest of ${plans} plans`];
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

const includes = (found: readonly Found[], { id }: Found): boolean => found.some((each) => each.id === id);

/** The longest that has ended: only such a record stays as it is during the probe. */
function usableOf(found: readonly Found[], nowMs: number): Found | undefined {
  const usable = found.filter(({ start, end }) => end - start >= LEAST_LENGTH_MS && end < nowMs - DAY_MS / 24);
  return usable.toSorted((a, b) => b.end - b.start - (a.end - a.start))[0];
}

/** A failure other than a rejection is thrown. */
async function isRejected(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return false;
  } catch (thrown) {
    if (asRoadbookError(thrown) instanceof Skippable) return true;
    throw thrown;
  }
}
