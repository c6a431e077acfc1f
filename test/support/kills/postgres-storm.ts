// A PostgreSQL warehouse whose server ends every session of the product, or is started anew, again and again while
// the real process pulls and pushes. A run that fails is repeated, as the schedule would.
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import knex from 'knex';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { postgres } from '../../../src/warehouse/engines/postgres/engine.ts';
import { type OwnPostgres, startOwnPostgres } from '../databases/postgres.ts';
import { configFor, makeWorkplace, QUICK, type Workplace } from '../process/workplace.ts';
import { dropItem, openEntries, twiceAndLost } from '../push/dropped-items.ts';
import { planCase } from './kill-cases.ts';
import { contentOf } from './pull-kills.ts';

const PLANS = planCase;
const PULLS = ['pull-vehicles', 'pull-points-of-interest', 'pull-route-plans'];
/** Before the storm: the schema is made once in the life of a warehouse. */
const FIRST = 'pull-drivers';
const MOST_RUNS = 40;
const MOST_ROUNDS = 10;
/** A read of the outbox may be hit too; so many failures in a row mean that the server is gone. */
const MOST_TRIES = 50;

export interface StormOptions {
  how: 'sessions ended' | 'server restarted';
  /** From one blow to the next, at least. It is also as long as an undisturbed run, or none would ever come to its end. */
  everyMs: number;
  /** Pulls are repeated until there were half as many, pushes of other plans until there were all. Default 1. */
  leastBlows?: number;
  /** Of one round of the work. */
  plans: number;
  pulls?: readonly string[];
  /** How long the service takes to answer, ms: a run is long enough to be hit. */
  latencyMs: number;
}

export interface StormReport {
  how: string;
  blows: number;
  /** Sessions of the product that were ended by them. */
  sessions: number;
  plans: number;
  runs: number;
  /** Exit codes of the runs that did not end well, and how often. */
  failed: Record<string, number>;
  /** Whether everything was done while the storm went on. */
  isDone: boolean;
  /** Tables that are not as in a warehouse that met no storm. */
  wrong: string[];
  twice: number;
  lost: number;
  open: number;
}

export async function stormPostgres(options: StormOptions): Promise<StormReport> {
  const { how, leastBlows = 1, plans, latencyMs, pulls = PULLS } = options;
  const sandbox = await startSandbox({
    vehicles: 4,
    churn: false,
    stepped: true,
    faults: [{ call: '*', fault: 'latency', ms: latencyMs }],
  });
  const server = await startOwnPostgres();
  const report: StormReport = {
    how,
    blows: 0,
    sessions: 0,
    plans: 0,
    runs: 0,
    failed: {},
    isDone: true,
    wrong: [],
    twice: 0,
    lost: 0,
    open: 0,
  };
  const placeOn = async (): Promise<Workplace> => {
    const settings = { url: await server.newDatabase(), schema: 'fleet' };
    const warehouse = {
      settings: { engine: 'postgres', ...settings },
      open: () => postgres.open(settings),
      remove: async () => undefined,
      copy: () => Promise.reject(new Error('not copied here')),
    };
    const rest = `warehouse: ${JSON.stringify(warehouse.settings)}
privacy: { secret: the-same-in-both-places }
erp: { route_plans: { source: files, folder: drop, settle: 0s } }
jobs: { pull-route-plans: { since: 3d }, push-route-plans: { settle: ${QUICK.settle} } }
`;
    return makeWorkplace(configFor(sandbox.url, rest, QUICK.timeout), warehouse);
  };

  /** Until it ends well. */
  async function persist(place: Workplace, job: string): Promise<void> {
    for (let runs = 1; runs <= MOST_RUNS; runs++) {
      const { code } = await place.run(['run', job, '--json']);
      report.runs++;
      if (code === 0 && (!job.startsWith('push-') || (await openThrough(place)) === 0)) return;
      report.failed[String(code)] = (report.failed[String(code)] ?? 0) + (code === 0 ? 0 : 1);
    }
    report.isDone = false;
  }

  /** Once, and again until there were so many blows. */
  async function until(blows: number, work: () => Promise<void>): Promise<void> {
    let rounds = 0;
    do await work();
    while (report.blows < blows && ++rounds < MOST_ROUNDS);
  }

  const [calm, hit] = [await placeOn(), await placeOn()];
  try {
    for (const place of [calm, hit]) await place.run(['run', FIRST]);
    let everyMs = options.everyMs;
    for (const job of pulls) {
      const began = performance.now();
      await calm.run(['run', job]);
      everyMs = Math.max(everyMs, performance.now() - began);
    }
    const truth = await contentOf(calm);
    const storm = blowOn(server, { how, everyMs }, report);
    try {
      await until(leastBlows / 2, async () => {
        for (const job of pulls) await persist(hit, job);
      });
      await until(leastBlows, async () => {
        for (let n = 0; n < plans; n++) dropItem(hit, PLANS, report.plans++);
        await persist(hit, PLANS.job);
      });
    } finally {
      await storm.end();
    }
    report.wrong = differing(truth, await contentOf(hit));
    Object.assign(report, twiceAndLost(sandbox.ledger().plans, PLANS.name, report.plans));
    report.open = await openEntries(hit);
    return report;
  } finally {
    calm.remove();
    hit.remove();
    await sandbox.close();
    await server.stop();
  }
}

/** Both are a list of names, each followed by its rows. */
function differing(truth: string, content: string): string[] {
  const [mine, theirs] = [JSON.parse(content), JSON.parse(truth)] as [unknown[], unknown[]];
  return theirs.flatMap((name, at) =>
    typeof name === 'string' && !isDeepStrictEqual(mine[at + 1], theirs[at + 1]) ? [name] : [],
  );
}

/** Open entries, asked for until a blow leaves the question alone. */
async function openThrough(place: Workplace): Promise<number> {
  for (let tries = 1; ; tries++) {
    try {
      return await openEntries(place);
    } catch (error) {
      if (tries === MOST_TRIES) throw error;
      await pause(100);
    }
  }
}

function blowOn(server: OwnPostgres, { how, everyMs }: Pick<StormOptions, 'how' | 'everyMs'>, report: StormReport) {
  const over = new AbortController();
  const blow = async (): Promise<void> => {
    report.blows++;
    // A new session each time: a restart ends this one too.
    const admin = knex({ client: 'pg', connection: server.url, pool: { min: 0, max: 1 } });
    const ends = how === 'sessions ended' ? 'pg_terminate_backend(pid)' : 'pid';
    const { rows } = await admin
      .raw(`select ${ends} from pg_stat_activity where application_name = 'roadbook'`)
      .finally(() => admin.destroy());
    report.sessions += rows.length;
    if (how === 'server restarted') await server.restart();
  };
  const blowing = (async () => {
    while (!over.signal.aborted) {
      await pause(everyMs, undefined, { signal: over.signal }).catch(() => undefined);
      if (!over.signal.aborted) await blow();
    }
  })();
  return {
    async end() {
      over.abort();
      await blowing;
    },
  };
}
