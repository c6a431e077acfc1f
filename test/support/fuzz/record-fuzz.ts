// Fuzzed records through the real jobs over HTTP into a real warehouse, and the two questions: is every record in a
// table or in the quarantine, exactly once, and does its row or its payload there give it back? Both are answered by SQL.
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { scalarText } from '../../../src/core/json.ts';
import { createLog } from '../../../src/core/log.ts';
import { createLimiter } from '../../../src/core/rate/limiter.ts';
import { createRedactor, type Redactor } from '../../../src/core/text/redaction.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createFleet } from '../../../src/fleet/client.ts';
import { createPrivacy, personalColumns } from '../../../src/warehouse/privacy/privacy.ts';
import type { Table } from '../../../src/warehouse/schema/table.ts';
import { checklist } from '../../../src/warehouse/tables/checklist.ts';
import { checklistAnswer } from '../../../src/warehouse/tables/checklist-answer.ts';
import { dailySummary } from '../../../src/warehouse/tables/daily-summary.ts';
import { driver } from '../../../src/warehouse/tables/driver.ts';
import { event } from '../../../src/warehouse/tables/event.ts';
import { itinerary } from '../../../src/warehouse/tables/itinerary.ts';
import { pointOfInterest } from '../../../src/warehouse/tables/point-of-interest.ts';
import { routePlan } from '../../../src/warehouse/tables/route-plan.ts';
import { routePoint } from '../../../src/warehouse/tables/route-point.ts';
import { routePointExecution } from '../../../src/warehouse/tables/route-point-execution.ts';
import { routePointItem } from '../../../src/warehouse/tables/route-point-item.ts';
import { vehicle } from '../../../src/warehouse/tables/vehicle.ts';
import { createSessionMemory } from '../fleet/session-memory.ts';
import { makeRig, type Rig } from '../pull/rig.ts';
import type { EngineName } from '../warehouse/engines.ts';
import { exactJson } from './exact-json.ts';
import { type DraftRecord, draftOf, type Fields, jsonText, NASTY_TEXTS, recordOf, SERIAL } from './fuzzed-records.ts';
import { rebuildRecord } from './rebuild.ts';
import { type RecordService, startRecordService } from './record-service.ts';
import { difference } from './same-record.ts';

type Draft = DraftRecord | { other: unknown };

/** A record as it was sent, by its number. */
interface Sent {
  table: Table;
  record: unknown;
}

export interface FuzzPlace {
  rig: Rig;
  service: RecordService;
  sent: Map<number, Sent>;
  /** Records that carry no number because they are no objects. */
  others: number;
  next(): number;
  close(): Promise<void>;
}

const START = '2026-03-10T12:00:00.000Z';
const INSIDE = '2026-03-10T08:00:00.000Z';
/** Numbers below are the place's own. */
const FIRST_SERIAL = 1_000;

export async function openFuzzPlace(engine: EngineName): Promise<FuzzPlace> {
  const service = await startRecordService();
  service.always('/vehicle/', () => [{ id: 1, plate: 'ABC1D23' }]);
  service.always('/driver/', () => []);
  const redactor = createRedactor();
  const fleet = createFleet(
    {
      baseUrl: service.url,
      username: 'demo',
      parentUsername: 'demo',
      password: 'demo-password',
      realm: 'demo',
      renewal: 'auto',
      collections: 'json',
      timeoutMs: 60_000,
      maxBodyMb: 64,
    },
    {
      clock: systemClock,
      redactor,
      log: createLog({ level: 'silent', redactor, write: () => undefined }),
      memory: createSessionMemory(),
      limiter: createLimiter({ concurrency: 8, perMinute: 10_000_000, clock: systemClock }),
    },
  );
  // A value that a policy changes cannot be restored.
  const kept = Object.fromEntries([...personalColumns.keys()].map((name) => [name, 'keep' as const]));
  const rig = await makeRig({
    startAt: START,
    sandbox: { vehicles: 1 },
    engine,
    dependencies: { fleet, privacy: createPrivacy(kept, 'test') },
  });
  let serial = FIRST_SERIAL;
  const place: FuzzPlace = {
    rig,
    service,
    sent: new Map(),
    others: 0,
    next: () => serial++,
    async close() {
      fleet.close();
      await rig.close();
      await service.close();
    },
  };
  await rig.run('pull-vehicles');
  return place;
}

/** Numbers the records of a table and remembers those that are sent. */
function numbered(
  place: FuzzPlace,
  table: Table,
  drafts: readonly Draft[],
  own: (serial: number) => Fields = () => ({}),
): unknown[] {
  return drafts.map((draft) => {
    const serial = place.next();
    const record = recordOf(draft, serial, own(serial));
    if ('other' in draft) place.others++;
    else place.sent.set(serial, { table, record });
    return record;
  });
}

const batch = (table: Table, maxLength: number): fc.Arbitrary<Draft[]> =>
  fc.array(draftOf(table), { minLength: 1, maxLength, size: 'max' });

/** How the records of one kind are sent: by which job, as the answers of which calls. */
export interface FuzzKind {
  name: string;
  /** The tables of its drafts, in turn. */
  tables: readonly Table[];
  /** Drafts of one run. */
  drafts: fc.Arbitrary<readonly Draft[]>;
  send(place: FuzzPlace, drafts: readonly Draft[]): Promise<void>;
}

const run = async (place: FuzzPlace, job: string, options: Record<string, unknown> = {}): Promise<void> => {
  const { status, error } = await place.rig.run(job, options);
  if (status === 'failed') throw new Error(`${job} failed: ${error?.code} ${error?.message}`);
};

const MOST = 400;

const listed = (
  table: Table,
  path: string,
  job: string,
  { own, options = {} }: { own?: (serial: number) => Fields; options?: Record<string, unknown> } = {},
): FuzzKind => ({
  name: table.name,
  tables: [table],
  drafts: batch(table, MOST),
  async send(place, drafts) {
    place.service.give(path, numbered(place, table, drafts, own));
    await run(place, job, options);
  },
});

/** A plan with its parts, each level a record of its own: of four drafts one is a plan, one a point, and so on. */
const plans: FuzzKind = {
  name: 'route plans with their points, executions and items',
  tables: [routePlan, routePoint, routePointExecution, routePointItem],
  drafts: fc
    .array(fc.tuple(draftOf(routePlan), draftOf(routePoint), draftOf(routePointExecution), draftOf(routePointItem)), {
      minLength: 1,
      maxLength: 60,
      size: 'max',
    })
    .map((quads) => quads.flat()),
  async send(place, drafts) {
    const details = new Map<string, unknown>();
    const search: unknown[] = [];
    for (let at = 0; at < drafts.length; at += 4) {
      const [plan, point, execution, item] = drafts.slice(at, at + 4) as [Draft, Draft, Draft, Draft];
      const [whole] = numbered(place, routePlan, [plan], () => ({ date_time_start: INSIDE }));
      search.push(whole);
      const id = jsonText((whole as Fields | null)?.id ?? null).replaceAll('"', '');
      if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) continue;
      // A plan that cannot be requested comes from the search alone.
      if (!/^\d+$/.test(id)) continue;
      const [stop] = numbered(place, routePoint, [point]);
      if (typeof stop === 'object' && stop !== null && !Array.isArray(stop)) {
        Object.assign(stop, {
          routes_info: numbered(place, routePointExecution, [execution]),
          route_point_items: numbered(place, routePointItem, [item]),
        });
      }
      details.set(id, { ...whole, route_points: [stop] });
    }
    place.service.always('/import/route_plan', (query) => {
      const id = query.get('route_plan_id');
      if (id !== null) return [details.get(id)].filter((found) => found !== undefined);
      const until = Date.parse(query.get('end_date') ?? '');
      const isInside = Date.parse(query.get('begin_date') ?? '') < Date.parse(INSIDE) && Date.parse(INSIDE) < until;
      return isInside ? search.splice(0) : [];
    });
    await run(place, 'pull-route-plans', { since: '1d', lookback: '1h', ahead: '1h', longest: '1h' });
  },
};

/** Answers of one checklist; their pictures are requested by name. */
const answers: FuzzKind = {
  name: checklistAnswer.name,
  tables: [checklistAnswer],
  drafts: batch(checklistAnswer, 100),
  async send(place, drafts) {
    const id = place.next();
    place.sent.set(id, { table: checklist, record: { id, [SERIAL]: id, date_executed: INSIDE } });
    place.service.give('/checklist/', [place.sent.get(id)?.record]);
    place.service.give('/checklist_form_field_executed/', numbered(place, checklistAnswer, drafts));
    await run(place, 'pull-checklists', { since: '1d' });
  },
};

export const FUZZ_KINDS: readonly FuzzKind[] = [
  listed(vehicle, '/vehicle/', 'pull-vehicles'),
  listed(driver, '/driver/', 'pull-drivers'),
  listed(pointOfInterest, '/point_of_interest/', 'pull-points-of-interest'),
  listed(event, '/event/', 'pull-events', { options: { since: '1d', categories: [1] } }),
  listed(dailySummary, '/daily_summary/', 'pull-daily-summaries', {
    options: { since: '1d' },
    // The title is the key of a row.
    own: (serial) => ({ title: `${NASTY_TEXTS[serial % NASTY_TEXTS.length]} ${serial}` }),
  }),
  listed(itinerary, '/itinerary/', 'pull-itineraries', {
    options: { since: '1d' },
    // Outside the itineraries that later runs would request again by id.
    own: () => ({ date_time_start: '2031-01-01T00:00:00.000Z', date_time_end: '2031-01-02T00:00:00.000Z' }),
  }),
  listed(checklist, '/checklist/', 'pull-checklists', { options: { since: '1d' } }),
  answers,
  plans,
];

const TABLES = FUZZ_KINDS.flatMap(({ tables }) => tables);

export interface FuzzCounts {
  sent: number;
  loaded: number;
  quarantined: number;
}

/** Finds every record sent so far by SQL. Throws where a record is lost, doubled or changed. */
export async function takeStock({ rig, sent, others }: FuzzPlace): Promise<FuzzCounts> {
  const seen = new Map<number, number>();
  const note = (serial: unknown): void => {
    if (typeof serial === 'number') seen.set(serial, (seen.get(serial) ?? 0) + 1);
  };
  let loaded = 0;
  for (const table of TABLES) {
    for (const row of await rig.rows(`select ${exactColumns(table)} from "${table.name}"`)) {
      const back = rebuildRecord(table, row) as Fields;
      const serial = back[SERIAL];
      if (typeof serial !== 'number') continue;
      loaded++;
      note(serial);
      const record = exactJson(jsonText(sent.get(serial)?.record)) as Fields;
      const changed = difference(comparable(table, record), comparable(table, back));
      if (changed !== undefined) throw new Error(`${table.name}${changed} of record ${serial} has changed`);
    }
  }
  for (const { payload } of await rig.rows('select payload from sync_quarantine')) {
    const back = exactJson(String(payload)) as Fields | null;
    const serial = back?.[SERIAL];
    if (typeof serial !== 'number') continue;
    note(serial);
    const { table = vehicle, record } = sent.get(serial) ?? {};
    const [kept, expected] = [back, exactJson(jsonText(record))].map((each) =>
      comparable(table, hushed(each, rig.dependencies.redactor.redact)),
    );
    if (!isDeepStrictEqual(kept, expected))
      throw new Error(`${table.name} ${serial} is in quarantine, but not as it was sent`);
  }
  const lost = [...sent.keys()].filter((serial) => seen.get(serial) !== 1);
  if (lost.length > 0) {
    const [first = 0] = lost;
    const times = seen.get(first) ?? 0;
    throw new Error(
      `${lost.length} records are not there once; ${sent.get(first)?.table.name} ${first} is ${times} times`,
    );
  }
  const [{ n } = {}] = await rig.rows('select sum(times) as n from sync_quarantine');
  const counts = { sent: sent.size + others, loaded, quarantined: Number(n ?? 0) };
  if (counts.loaded + counts.quarantined !== counts.sent) {
    throw new Error(`${counts.sent} sent, ${loaded} loaded and ${counts.quarantined} quarantined`);
  }
  return counts;
}

/** Whole numbers as digits: a driver may give them as doubles. */
const exactColumns = (table: Table): string =>
  table.columns
    .map(({ name, type }) => (type === 'integer' ? `cast("${name}" as text) as "${name}"` : `"${name}"`))
    .join(', ');

/** Without the fields that a job adds and lists that have tables of their own; a repeated value, once. */
function comparable(table: Table, record: Fields): Fields {
  const added = new Set([
    ...table.columns.filter((column) => column.added).map(({ name }) => name),
    ...['route_points', 'routes_info', 'route_point_items'],
    ...(table === event ? ['event_category'] : []),
    ...(table === checklistAnswer ? ['checklist_id'] : []),
  ]);
  const kept = structuredClone(
    Object.fromEntries(Object.entries(record).filter(([name]) => !added.has(name))),
  ) as Fields;
  for (const { name, alias } of table.columns) {
    const [parent = '', inner = ''] = alias ?? [];
    const object = kept[parent];
    if (alias === undefined || typeof object !== 'object' || object === null) continue;
    // Which of the two places had the value is not kept.
    const repeated = (object as Fields)[inner];
    kept[name] ??= repeated;
    if (scalarText(repeated) === scalarText(kept[name])) delete (object as Fields)[inner];
  }
  return kept;
}

/** As a control table may hold it: no secret and no tax number in a value, long whole numbers as text, the rest to the letter. */
const hushed = (record: unknown, redact: Redactor['redact']): Fields =>
  JSON.parse(
    JSON.stringify(record, (_name, value: unknown) => {
      if (typeof value !== 'string' && typeof value !== 'number') return value;
      const clean = redact(String(value));
      return clean === String(value) && !isLong(value) ? value : clean;
    }),
  );

const isLong = (value: unknown): boolean => Number.isInteger(value) && !Number.isSafeInteger(value);

/** Sends about `records` records of all kinds; a failure names the seed that repeats it. */
export async function fuzzRecords(
  place: FuzzPlace,
  records: number,
  seed: number,
  onProgress: (sent: number) => void = () => undefined,
): Promise<FuzzCounts> {
  let batches = 0;
  const stop = () => place.sent.size >= records;
  while (!stop()) {
    for (const kind of FUZZ_KINDS) {
      if (stop()) break;
      const [drafts = []] = fc.sample(kind.drafts, { numRuns: 1, seed: seed + batches });
      try {
        await kind.send(place, drafts);
      } catch (error) {
        throw new Error(`${kind.name}, seed ${seed + batches}`, { cause: error });
      }
      batches++;
      onProgress(place.sent.size);
    }
  }
  return takeStock(place);
}
