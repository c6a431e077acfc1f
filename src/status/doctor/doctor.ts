// The checks behind `roadbook doctor`: one for each part that a working daemon needs, each reported as ok, warn or
// fail. A failed check does not stop the others.
import type { Config } from '../../config/schema.ts';
import { asRoadbookError, Skippable } from '../../core/errors.ts';
import { type Redactor, redactedError } from '../../core/text/redaction.ts';
import { formatDuration } from '../../core/time/durations.ts';
import { FEED_KINDS, type FeedKind } from '../../erp/feed-kinds.ts';
import type { ErpSource } from '../../erp/source.ts';
import type { Fleet } from '../../fleet/client.ts';
import { vehicles } from '../../fleet/endpoints/vehicles.ts';
import { nextTick } from '../../schedule/ticks.ts';
import type { SyncDependencies } from '../../sync/dependencies.ts';
import { type ProbeAnswer, QUESTIONS } from '../../sync/probe/answers.ts';
import type { ProbeReport } from '../../sync/probe/probe.ts';
import type { Engine } from '../../warehouse/engine.ts';
import { contradictionOf } from '../health/unfit-answers.ts';
import { type CheckOutcome, type CheckResult, ok, warn } from './check-result.ts';
import { checkDisk, checkRuntime, checkStatusAddress, checkStatusToken, checkZoneData } from './machine-checks.ts';
import { checkDaemons, checkServerClock, checkWarehouse } from './warehouse-checks.ts';

export interface DoctorDependencies extends Pick<SyncDependencies, 'clock' | 'redactor'> {
  file: string;
  config: Config;
  /** Why the running daemon rejected the file; null if it did not. */
  configError(): Promise<string | null>;
  warehouse(): Promise<Engine>;
  service(): Promise<{ fleet: Fleet }>;
  /** The source of a feed; undefined if the feed is not configured. */
  erpSource(kind: FeedKind): Promise<ErpSource | undefined>;
  /** Warnings about schedules that need more calls than the rate allows. */
  budgetWarnings(): Promise<string[]>;
  /** Sends a test message; absent if none was requested. */
  sendTestAlert?(): Promise<void>;
  /** Asks the service what it leaves undocumented; absent if that was not requested. */
  probe?(): Promise<ProbeReport>;
  /** Names of the checks; default all. */
  only?: readonly string[];
}

const MOST_SKEW_MS = 120_000;
const YEAR_MS = 366 * 86_400_000;

type Check = (dependencies: DoctorDependencies, before: readonly CheckResult[]) => Promise<CheckOutcome>;

const CHECKS: Readonly<Record<string, Check>> = {
  config: async ({ file, configError }) => {
    const error = await configError();
    return error === null
      ? ok(`${file} is valid`)
      : warn(`the running daemon rejected it: ${error}`, 'Restart the daemon, or undo the edit.');
  },
  runtime: async () => checkRuntime(process.version),
  'time zones': async ({ clock }) => checkZoneData(process.versions.tz, clock.now()),
  schedules: async ({ config, clock }) => checkSchedules(config, clock.now()),
  'call budget': async ({ budgetWarnings }) => {
    const warnings = await budgetWarnings();
    const hint = 'Run jobs less often or raise service.requests_per_minute; see `roadbook config check`.';
    return warnings.length === 0 ? ok('the schedules fit the rate') : warn(warnings.join('; '), hint);
  },
  warehouse: async ({ warehouse, clock }) => checkWarehouse(await warehouse(), clock),
  daemons: async ({ warehouse, clock }) => checkDaemons(await warehouse(), clock),
  'server clock': async ({ warehouse, clock }) => checkServerClock(await warehouse(), clock),
  disk: async ({ config, warehouse }) => {
    // A broken warehouse is reported by its own check.
    const facts = await warehouse().then(
      (engine) => engine.inspect?.(),
      () => undefined,
    );
    return checkDisk([facts?.folder ?? process.cwd(), config.warehouse.images]);
  },
  'status page': ({ config }) => checkStatusAddress(config.status),
  'status token': async ({ config }) => checkStatusToken(config.status.token),
  alerts: async ({ config, sendTestAlert }) => {
    if (config.alerts.webhook === '') {
      return sendTestAlert === undefined
        ? ok('alerts are off: alerts.webhook is empty')
        : warn('nothing was sent: alerts.webhook is empty', 'Set alerts.webhook.');
    }
    await sendTestAlert?.();
    if (isUnencrypted(config.alerts.webhook)) return warn('the webhook uses no encryption', 'Use https://.');
    return ok(sendTestAlert === undefined ? 'a webhook is set' : 'the webhook accepted a test message');
  },
  transport: async ({ config }) => {
    const { baseUrl } = config.service;
    if (baseUrl === 'sandbox') return ok('built-in sandbox: no real service is called');
    const { host } = new URL(baseUrl);
    return isUnencrypted(baseUrl)
      ? warn(`the connection to ${host} uses no encryption`, 'Use https:// in service.base_url.')
      : ok(host);
  },
  login: async ({ service }) => {
    const { fleet } = await service();
    await fleet.call(vehicles, { includes: ['fleet'], visible: 1 });
    const { expires_at } = fleet.session();
    return ok(expires_at === null ? 'token accepted' : `token accepted, valid until ${expires_at}`);
  },
  clock: async ({ service }, before) => {
    const skewMs = (await service()).fleet.clockSkewMs();
    if (skewMs === undefined && before.some(({ check, state }) => check === 'login' && state === 'fail'))
      return warn('not compared: the service did not answer', 'Correct what the check `login` reports.');
    if (skewMs === undefined)
      return warn('the service sends no Date header', 'Compare the clock of this machine by hand.');
    const found = `${formatDuration(Math.abs(skewMs))} ${skewMs < 0 ? 'behind' : 'ahead of'} the service`;
    return Math.abs(skewMs) > MOST_SKEW_MS
      ? warn(found, 'Synchronise the clock of this machine, for example by NTP.')
      : ok(found);
  },
};

/** Whether requests to the address leave this machine without encryption. */
function isUnencrypted(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && !/^(?:localhost|127\.|\[::1\])/.test(hostname);
}

function checkSchedules({ jobs }: Config, nowMs: number): CheckOutcome {
  const enabled = Object.entries(jobs).filter(([, { enabled }]) => enabled);
  const rare = enabled.filter(([, { schedule, timezone }]) => {
    const next = nextTick({ cron: schedule, timezone }, nowMs);
    return next === undefined || next - nowMs > YEAR_MS;
  });
  if (rare.length === 0) return ok(`${enabled.length} jobs are scheduled`);
  const names = rare.map(([name]) => name).join(', ');
  return warn(`not due within a year: ${names}`, 'Correct the schedule, or set `enabled: false`.');
}

export async function runChecks(dependencies: DoctorDependencies): Promise<CheckResult[]> {
  const { only, redactor, probe, config, erpSource } = dependencies;
  const results: CheckResult[] = [];

  async function add(name: string, check: () => Promise<CheckOutcome[]>): Promise<void> {
    const outcomes = await check().catch((thrown) => [failed(thrown, redactor)]);
    results.push(...outcomes.map((outcome) => ({ check: name, ...outcome })));
  }

  for (const [name, check] of Object.entries(CHECKS)) {
    if (only?.includes(name) !== false) await add(name, async () => [await check(dependencies, results)]);
  }
  if (only !== undefined) return results;
  await add('erp', async () => {
    const feeds: CheckOutcome[] = [];
    for (const kind of FEED_KINDS) feeds.push(...(await checkFeed(kind, erpSource, redactor)));
    return feeds.length > 0 ? feeds : [ok('no feed configured')];
  });
  if (probe !== undefined) await add('probe', async () => probeChecks(await probe(), config));
  return results;
}

/** Empty if the feed is not configured. */
async function checkFeed(
  kind: FeedKind,
  open: DoctorDependencies['erpSource'],
  redactor: Redactor,
): Promise<CheckOutcome[]> {
  const outcome = await open(kind)
    .then(async (source) => source && ok(await source.check()))
    .catch((thrown) =>
      thrown instanceof Skippable ? warn(thrown.message, thrown.hint ?? '') : failed(thrown, redactor),
    );
  return outcome === undefined ? [] : [{ ...outcome, found: `${kind}: ${outcome.found}` }];
}

/** Warns where an answer has changed, or where the configuration does not fit to it. */
export const probeChecks = ({ answers, calls }: ProbeReport, config: Config): CheckOutcome[] => [
  ...answers.map((each) => outcomeOf(each, config)),
  ok(`${calls} requests, none of which changes a record`),
];

function outcomeOf({ question, answer, evidence, was, stored }: ProbeAnswer, config: Config): CheckOutcome {
  const earlier = stored === undefined ? '' : `; found ${stored.at}: ${stored.answer}`;
  const known = `${QUESTIONS[question]}: ${answer ?? 'not known'} (${evidence})${earlier}`;
  const newest = answer ?? stored?.answer;
  const wrong = newest === undefined ? undefined : contradictionOf(question, newest, config);
  if (wrong !== undefined) return warn(`${known}; ${wrong.found}`, wrong.hint);
  if (was === undefined) return ok(known);
  return warn(
    `${known}; it was: ${was}`,
    'The service has changed: compare the last days with it by `roadbook verify`.',
  );
}

function failed(thrown: unknown, redactor: Redactor): CheckOutcome {
  const { code, message, hint } = redactedError(asRoadbookError(thrown), redactor);
  return { state: 'fail', found: message, hint, code };
}
