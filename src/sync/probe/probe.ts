// Finds out what the description of the service leaves open, with calls that change nothing: how searches by period work,
// whether listings are cut off, how many vehicles an event query takes, how tokens are renewed, and how late plans are
// listed after their import. Each question stands alone: a call that the service rejects leaves only its own questions
// open. The answers are stored, so that the next probe notices a change.
import { CNH_CATEGORIES, POINT_OF_INTEREST_CATEGORIES } from '../../core/code-lists.ts';
import { asRoadbookError, Fatal, Skippable } from '../../core/errors.ts';
import { scalarText } from '../../core/json.ts';
import { type Clock, isoInstant } from '../../core/time/clock.ts';
import { DAY_MS, formatDuration } from '../../core/time/durations.ts';
import type { CallContext, Fleet } from '../../fleet/client.ts';
import { drivers } from '../../fleet/endpoints/drivers.ts';
import { events } from '../../fleet/endpoints/events.ts';
import { pointsOfInterest } from '../../fleet/endpoints/points-of-interest.ts';
import { routePlans } from '../../fleet/endpoints/route-plans.ts';
import { vehicles } from '../../fleet/endpoints/vehicles.ts';
import { toInstant } from '../../fleet/instants.ts';
import type { Engine } from '../../warehouse/engine.ts';
import { slowestListing } from '../../warehouse/outbox/lists.ts';
import { chunksFor } from '../pull/plan/chunks.ts';
import { TOO_MANY } from '../pull/plan/slice-limits.ts';
import type { Span } from '../pull/plan/windows.ts';
import {
  type Answer,
  atLeast,
  isAsked,
  isOpen,
  type ProbeAnswer,
  QUESTIONS,
  type Question,
  storeAnswers,
} from './answers.ts';
import { createdHalves, idsOf, limitOfListing, limitOfSearch } from './listing-limit.ts';
import { type KnownRecord, LEAST_LENGTH_MS, LENGTH_LIMIT_MS, probePeriodSearch } from './period-search.ts';

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
  /** Whether a job is enabled; default: all are. */
  isEnabled?: (job: string) => boolean;
  /** Default MOST_PROBE_CALLS. Questions that need more stay open. */
  mostCalls?: number;
}

/** Most requests of a probe, retries included; only those for a token may come on top. */
export const MOST_PROBE_CALLS = 90;

/** How far back the probe looks for a plan. */
const REACH_MS = 7 * DAY_MS;
/** Trips are the events that every moving vehicle has. */
const TRIP = 1;
const DELAY_DAYS = 30;

export async function probeService(
  { fleet, engine, clock }: ProbeDependencies,
  { isSeen, calling = {}, isEnabled = () => true, mostCalls = MOST_PROBE_CALLS }: ProbeOptions,
): Promise<ProbeReport> {
  let calls = 0;
  const onRequest = (): void => {
    calls++;
    calling.onRequest?.();
  };
  const beforeSend = (): void => {
    calling.beforeSend?.();
    if (calls < mostCalls) return;
    throw new Fatal(`the ${mostCalls} requests of a probe were made`, { code: TOO_MANY, hint: 'Probe again later.' });
  };
  const nowMs = clock.now();
  const ask = questionsOf({ fleet, engine, nowMs, calling: { ...calling, onRequest, beforeSend } });
  const answers: ProbeAnswer[] = [];
  for (const question of Object.keys(QUESTIONS) as Question[]) {
    if (!isAsked(question, isEnabled)) continue;
    const [answer, evidence] = await unknownIfRejected(ask[question]);
    answers.push({ question, answer, evidence });
  }
  return { at: isoInstant(nowMs), calls, answers: await storeAnswers(engine, answers, { nowMs, isSeen }) };
}

/**
 * Failures that concern the call, as all that are skippable do, or that leave the answers so far as they are. After any other
 * one, further calls would fail too.
 */
const OF_ONE_CALL = ['request_invalid', 'forbidden', 'service_failed', 'timed_out', 'bad_answer', TOO_MANY];

async function unknownIfRejected(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (thrown) {
    const failure = asRoadbookError(thrown);
    if (!(failure instanceof Skippable) && !OF_ONE_CALL.includes(failure.code)) throw thrown;
    return [null, failure.message];
  }
}

interface Asking extends Pick<ProbeDependencies, 'fleet' | 'engine'> {
  nowMs: number;
  calling: CallContext;
}

/** Questions that need the same call make it once. */
function questionsOf(asking: Asking): Record<Question, () => Promise<Answer>> {
  const { nowMs, fleet, calling } = asking;
  const vehicleList = once(() => fleet.call(vehicles, ALL_VEHICLES, calling));
  const limitOfDrivers = async (is_deliveryman: boolean, what: string): Promise<Answer> => {
    const list = (cnh_category_id?: number) => fleet.call(drivers, { is_deliveryman, cnh_category_id }, calling);
    return limitOfListing({ what, whole: await list(), list, parts: idsOf(CNH_CATEGORIES) });
  };
  const [week, day] = [REACH_MS, DAY_MS].map((ms) => ({ begin: nowMs - ms, end: nowMs })) as [Span, Span];
  const plans = once(() => searchPlans(asking, week));
  const planSearch = once(async () =>
    askSearch(usableOf(await plans(), nowMs), (span, vehicle) => searchPlans(asking, span, vehicle), {
      name: 'plan',
      reach: '7 days',
    }),
  );
  const trips = once(async () => tripsOfMostVehicles(asking, day, idsOf(await vehicleList())));
  const tripSearch = once(async () =>
    askSearch(usableOf((await trips()).listed, nowMs), (span, vehicle) => searchTrips(asking, span, [vehicle]), {
      name: 'trip',
      reach: 'day',
    }),
  );
  return {
    plan_search: async () => (await planSearch()).meaning,
    plan_period_ends: async () => (await planSearch()).ends,
    plan_listing: async () =>
      limitOfSearch(await plans(), week, (span) => searchPlans(asking, span), 'the plans of 7 days'),
    event_search: async () => (await tripSearch()).meaning,
    event_period_ends: async () => (await tripSearch()).ends,
    event_listing: async () => {
      const { listed, ids } = await trips();
      const what = `a day's trips of ${ids.length} vehicles`;
      const [answer, evidence] = await limitOfSearch(listed, day, (span) => searchTrips(asking, span, ids), what);
      if (answer === null || isOpen(answer)) return [answer, evidence];
      return [answer, `${evidence}; pull-events halves a slice that reaches it`];
    },
    vehicle_ids: async () => (await trips()).limit,
    async vehicle_listing() {
      const list = (created = {}) => fleet.call(vehicles, { ...ALL_VEHICLES, ...created }, calling);
      const whole = await vehicleList();
      return limitOfListing({ what: 'vehicles', whole, list, parts: createdHalves(whole) });
    },
    agent_listing: () => limitOfDrivers(true, 'agents'),
    driver_listing: () => limitOfDrivers(false, 'drivers'),
    async point_of_interest_listing() {
      const list = (point_of_interest_category_id?: number) =>
        fleet.call(pointsOfInterest, { point_of_interest_category_id }, calling);
      const parts = idsOf(POINT_OF_INTEREST_CATEGORIES);
      return limitOfListing({ what: 'points of interest', whole: await list(), list, parts });
    },
    renewal: () => renewalForms(asking),
    import_delay: () => delayOfImports(asking),
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

interface Found extends KnownRecord {
  id: number;
  vehicleId: number;
}

async function searchPlans({ fleet, calling }: Asking, { begin, end }: Span, vehicle?: number) {
  const period = { begin_date: isoInstant(begin), end_date: isoInstant(end) };
  const request = { ...period, ...(vehicle !== undefined && { vehicle_id: vehicle }) };
  return foundIn(await fleet.call(routePlans, request, calling), ['date_time_start', 'date_time_end']);
}

const tripsOf = ({ begin, end }: Span, vehicles_id: number[]) => ({
  periods: [{ begin: isoInstant(begin), end: isoInstant(end) }],
  event_category: TRIP,
  vehicles_id,
  includes: ['vehicle' as const],
});

const searchTrips = async ({ fleet, calling }: Asking, span: Span, vehicles_id: number[]) =>
  foundIn(await fleet.call(events, tripsOf(span, vehicles_id), calling), ['begin_date', 'end_date']);

const ALL_VEHICLES = { includes: ['fleet' as const], visible: 2 as const };

/** The two questions about a search by period, answered with one record. */
async function askSearch(
  record: Found | undefined,
  search: (span: Span, vehicle: number) => Promise<Found[]>,
  { name, reach }: { name: string; reach: string },
): Promise<{ meaning: Answer; ends: Answer }> {
  if (record === undefined) {
    const lengths = `${formatDuration(LEAST_LENGTH_MS)} to ${formatDuration(LENGTH_LIMIT_MS)}`;
    const none = `no ${name} of the last ${reach} has ended and lasted ${lengths}`;
    return { meaning: [null, none], ends: [null, none] };
  }
  const { meaning, ends } = await probePeriodSearch(
    async (begin, end) => includes(await search({ begin, end }, record.vehicleId), record),
    record,
  );
  const answer = (word: string): Answer => [word === 'unclear' ? null : word, `searches around ${name} ${record.id}`];
  return { meaning: answer(meaning), ends: answer(ends) };
}

/** As many vehicles as fit into a URL, then half as many, until the service accepts them; and what it then listed. */
async function tripsOfMostVehicles(asking: Asking, span: Span, all: readonly number[]) {
  const { fleet } = asking;
  const [most = []] = chunksFor(all, all.length, (some) => fleet.urlBytes(events, tripsOf(span, some)));
  if (most.length === 0) return { listed: [], ids: [], limit: [null, 'no vehicle is listed'] as const };
  let accepted: { listed: Found[]; ids: number[] } | undefined;
  let rejected = most.length + 1;
  for (let size = most.length; size > (accepted?.ids.length ?? 0); ) {
    const ids = most.slice(0, size);
    // A query of a single vehicle is not rejected for their number.
    const listed = await (size === 1 ? searchTrips : tripsUnlessRejected)(asking, span, ids);
    if (listed === undefined) rejected = size;
    else accepted = { listed, ids };
    size = Math.floor(((accepted?.ids.length ?? 0) + rejected) / 2);
  }
  const { listed = [], ids = [] } = accepted ?? {};
  return { listed, ids, limit: await limitOfIds() };

  /**
   * A query may be rejected because of one vehicle: another one in its place, which is accepted alone, shows whether it was
   * their number.
   */
  async function limitOfIds(): Promise<Answer> {
    if (ids.length === most.length) return [atLeast(ids.length), 'as many as exist, or as fit into a URL'];
    const other = most.slice(rejected, rejected + 1);
    const isRejected = async (some: number[]) => (await tripsUnlessRejected(asking, span, some)) === undefined;
    if (other.length === 0 || !(await isRejected([...ids, ...other])))
      return [atLeast(ids.length), `${rejected} were rejected, perhaps because of one of them`];
    if (await isRejected(other)) return [null, `${rejected} were rejected, and so was vehicle ${other} alone`];
    return [`${ids.length}`, `${rejected} were rejected`];
  }
}

async function tripsUnlessRejected(asking: Asking, span: Span, ids: number[]): Promise<Found[] | undefined> {
  try {
    return await searchTrips(asking, span, ids);
  } catch (thrown) {
    if (!(asRoadbookError(thrown) instanceof Skippable)) throw thrown;
    return undefined;
  }
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
    const id = Number(scalarText(fields.id));
    const at = (field: string) => Date.parse(toInstant(scalarText(fields[field])) ?? '');
    const vehicleId = Number(
      scalarText(fields.vehicle_id ?? (fields.vehicle as { id?: unknown } | null | undefined)?.id),
    );
    return Number.isSafeInteger(id) ? [{ id, vehicleId, start: at(start), end: at(end) }] : [];
  });
}

const includes = (found: readonly Found[], { id }: Found): boolean => found.some((each) => each.id === id);

/** The longest, within the limits, of a vehicle that has ended: only such a record stays as it is during the probe. */
function usableOf(found: readonly Found[], nowMs: number): Found | undefined {
  const isUsable = ({ vehicleId, start, end }: Found): boolean =>
    vehicleId > 0 && end - start >= LEAST_LENGTH_MS && end - start < LENGTH_LIMIT_MS && end < nowMs - DAY_MS / 24;
  const usable = found.filter(isUsable);
  return usable.toSorted((a, b) => b.end - b.start - (a.end - a.start))[0];
}
