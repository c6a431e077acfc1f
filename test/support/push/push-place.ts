// A whole push in one process: the sandbox, a warehouse, a drop folder and the real jobs, on a clock that
// the test moves. The sandbox's ledger is the truth about what was accepted.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { z } from 'zod';
import type { RunSummary } from '../../../src/core/glossary.ts';
import { createLog } from '../../../src/core/log.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { isoInstant } from '../../../src/core/time/clock.ts';
import { createManualClock, type ManualClock } from '../../../src/core/time/manual-clock.ts';
import type { FeedKind } from '../../../src/erp/feed-kinds.ts';
import type { Feed } from '../../../src/erp/source.ts';
import { type FeedSettings, openSource } from '../../../src/erp/sources.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/sandbox.ts';
import type { SyncDependencies } from '../../../src/sync/dependencies.ts';
import { localDispatcher } from '../../../src/sync/dispatch/local.ts';
import type { Job, Preview } from '../../../src/sync/job.ts';
import { runJob } from '../../../src/sync/run.ts';
import type { Engine } from '../../../src/warehouse/engine.ts';
import { createPrivacy } from '../../../src/warehouse/privacy/privacy.ts';
import { drive, NOON, openFleet } from '../fleet/fleet-setup.ts';
import { type Answering, startFront } from '../fleet/front.ts';
import { type EngineName, makePlaceWithSchema } from '../warehouse/engines.ts';
import type { OutboxRow } from './push-samples.ts';

export interface PushPlace {
  dir: string;
  clock: ManualClock;
  sandbox: Sandbox;
  engine: Engine;
  dependencies: SyncDependencies;
  /** Log lines. */
  lines: string[];
  /** The sources forget all that they do not keep on disk, as another process would find them. */
  restart(): void;
  /** Puts a file into the drop folder of a kind. */
  drop(kind: FeedKind, name: string, items: unknown): void;
  /** One run of a job, by its file in jobs/; the clock moves where the run waits for it. */
  run(job: string, options?: Record<string, unknown>, signal?: AbortSignal): Promise<RunSummary>;
  preview(job: string): Promise<Preview[]>;
  /** Runs of a job, five minutes apart. */
  runs(job: string, times: number): Promise<void>;
  outbox(): Promise<OutboxRow[]>;
  entry(code: string): Promise<OutboxRow>;
  /** The story of an entry, in order. */
  story(code: string): Promise<PushAttempt[]>;
  /** ISO instant of the test's clock. */
  now(): string;
  folder(kind: FeedKind): string;
}

/** A row of `push_attempt`. */
interface PushAttempt {
  what: string;
  outcome: string | null;
  finished_at: string | null;
  message: string | null;
}

export interface PlaceOptions {
  sandbox?: SandboxOptions;
  /** A server before the sandbox that sees every request and may answer itself. */
  answering?: Answering;
  timeoutMs?: number;
  /** The rate of the limiter; by default as good as none. */
  perMinute?: number;
  feedOptions?: Feed['options'];
  /** Feeds that are no drop folder. */
  feeds?: Partial<Record<FeedKind, FeedSettings>>;
  /** The warehouse's engine; default SQLite. */
  engine?: EngineName;
  /** `reuse_codes` of the source. */
  reuseCodes?: boolean;
  /** How long finished files are kept; for ever by default. */
  keepFilesMs?: number;
}

export async function makePushPlace(options: PlaceOptions = {}): Promise<PushPlace> {
  const dir = mkdtempSync(join(tmpdir(), 'roadbook-push-'));
  const clock = createManualClock(NOON);
  const sandbox = await startSandbox({ clock, churn: false, ...options.sandbox });
  const settings = { timeoutMs: options.timeoutMs ?? 10_000, maxBodyMb: 1 };
  const front = options.answering && (await startFront(sandbox.url, options.answering));
  const { fleet, lines } = openFleet(front?.url ?? sandbox.url, sandbox, {
    clock,
    settings,
    perMinute: options.perMinute,
  });
  const warehouse = await makePlaceWithSchema(options.engine ?? 'sqlite');
  const engine = await warehouse.open();
  const redactor = createRedactor();
  const log = createLog({ level: 'debug', redactor, write: (line) => lines.push(line) });
  const folder = (kind: FeedKind): string => join(dir, kind);
  const feeds = new Map<FeedKind, Feed>();
  const dependencies: SyncDependencies = {
    fleet,
    engine,
    clock,
    log,
    redactor,
    privacy: createPrivacy({}, 'test'),
    dispatcher: localDispatcher,
    concurrency: 4,
    timezone: 'America/Sao_Paulo',
    images: join(dir, 'images'),
    async erp(kind) {
      const known = feeds.get(kind);
      if (known !== undefined) return known;
      const context = {
        kind,
        zone: 'America/Sao_Paulo',
        reuseCodes: options.reuseCodes ?? false,
        clock,
        log,
        random: () => 0.5,
      };
      const dropFolder: FeedSettings = {
        source: 'files',
        folder: folder(kind),
        settleMs: 0,
        keepFilesMs: options.keepFilesMs ?? Number.POSITIVE_INFINITY,
        mapping: {},
      };
      const source = openSource(options.feeds?.[kind] ?? dropFolder, context);
      const feed = { source, options: options.feedOptions ?? {} };
      feeds.set(kind, feed);
      return feed;
    },
  };
  onTestFinished(async () => {
    for (const { source } of feeds.values()) await source.close();
    await front?.close();
    await sandbox.close();
    await engine.close();
    await warehouse.remove();
    rmSync(dir, { recursive: true, force: true });
  });
  const jobNamed = async (name: string): Promise<Job> => (await import(`../../../jobs/${name}.ts`)).default;
  const optionsOf = (job: Job, given: Record<string, unknown>) =>
    job.options.parse(given) as z.output<typeof job.options>;

  const place: PushPlace = {
    dir,
    clock,
    sandbox,
    engine,
    dependencies,
    lines,
    folder,
    restart: () => feeds.clear(),
    drop(kind, name, items) {
      mkdirSync(dirname(join(folder(kind), name)), { recursive: true });
      writeFileSync(join(folder(kind), name), typeof items === 'string' ? items : JSON.stringify(items));
    },
    async run(name, given = {}, signal) {
      const job = await jobNamed(name);
      const request = {
        job: { ...job, name },
        cause: 'manual' as const,
        options: optionsOf(job, given),
        signal,
      };
      return (await drive(clock, runJob(request, dependencies))).summary;
    },
    async runs(name, times) {
      for (let n = 0; n < times; n++) {
        await place.run(name);
        await clock.advance(300_000);
      }
    },
    async preview(name) {
      const job = await jobNamed(name);
      return drive(clock, job.preview({ job: name, options: optionsOf(job, {}), dependencies }));
    },
    outbox: () => engine.read((sql) => sql('push_outbox').orderBy('external_code')),
    async entry(code) {
      const entry = (await place.outbox()).find(({ external_code }) => external_code === code);
      if (entry === undefined) throw new Error(`no entry ${code}`);
      return entry;
    },
    story: (code) => engine.read((sql) => sql('push_attempt').where({ external_code: code }).orderBy('number')),
    now: () => isoInstant(clock.now()),
  };
  return place;
}
