// The check-up behind `roadbook doctor`: looks at every part that a working daemon needs and tells each as ok,
// warn or fail. One that fails does not keep the others from being looked at.
import { statfs } from 'node:fs/promises';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import { formatDuration } from '../core/durations.ts';
import { asRoadbookError } from '../core/errors.ts';
import type { Redactor } from '../core/redaction.ts';
import { type ErpSource, FEED_KINDS, type FeedKind } from '../erp/source.ts';
import type { Fleet } from '../fleet/client.ts';
import { vehicles } from '../fleet/endpoints/vehicles.ts';
import type { Engine } from '../warehouse/engine.ts';

export interface Finding {
  check: string;
  state: 'ok' | 'warn' | 'fail';
  found: string;
  hint: string | null;
  /** Code of the error, for a failure. */
  code?: string;
}

export interface CheckUpParts {
  file: string;
  config: Config;
  clock: Clock;
  redactor: Redactor;
  openWarehouse(): Promise<Engine>;
  openService(): Promise<Fleet>;
  /** The source of a feed; undefined where the configuration has none. */
  openFeed(kind: FeedKind): Promise<ErpSource | undefined>;
}

const LEAST_FREE_BYTES = 1024 ** 3;
const MOST_SKEW_MS = 120_000;

type Look = (parts: CheckUpParts) => Promise<Omit<Finding, 'check'>>;

const ok = (found: string): Omit<Finding, 'check'> => ({ state: 'ok', found, hint: null });
const warn = (found: string, hint: string): Omit<Finding, 'check'> => ({ state: 'warn', found, hint });

const LOOKS: Readonly<Record<string, Look>> = {
  config: async ({ file }) => ok(`${file} is valid`),
  warehouse: async ({ openWarehouse }) => {
    const engine = await openWarehouse();
    const [row] = await engine.read((sql) => sql('sync_run').count({ runs: '*' }));
    return ok(`${engine.name}, ${row?.runs ?? 0} runs on record`);
  },
  disk: async ({ config }) => {
    const { bavail, bsize } = await statfs(process.cwd());
    const free = bavail * bsize;
    const found = `${(free / 1024 ** 3).toFixed(1)} GiB free for ${config.warehouse.engine}`;
    return free < LEAST_FREE_BYTES
      ? warn(found, 'Free some space before the warehouse cannot grow.')
      : ok(found);
  },
  transport: async ({ config }) => {
    const { baseUrl } = config.service;
    if (baseUrl === 'sandbox') return ok('built-in sandbox: no real service is called');
    const { protocol, hostname, host } = new URL(baseUrl);
    const plain = protocol === 'http:' && !/^(?:localhost|127\.|\[::1\])/.test(hostname);
    return plain ? warn(`${host} without encryption`, 'Use https:// in service.base_url.') : ok(host);
  },
  login: async ({ openService }) => {
    const fleet = await openService();
    await fleet.call(vehicles, { includes: ['fleet'], visible: 1 });
    const { expires_at } = fleet.session();
    return ok(expires_at === null ? 'token accepted' : `token accepted, valid until ${expires_at}`);
  },
  clock: async ({ openService }) => {
    const skewMs = (await openService()).clockSkewMs();
    if (skewMs === undefined)
      return warn('the service tells no time', 'Compare the clock of this machine by hand.');
    const found = `${formatDuration(Math.abs(skewMs))} ${skewMs < 0 ? 'behind' : 'ahead of'} the service`;
    return Math.abs(skewMs) > MOST_SKEW_MS
      ? warn(found, 'Set the clock of this machine, by NTP.')
      : ok(found);
  },
};

export async function checkUp(parts: CheckUpParts): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [check, look] of Object.entries(LOOKS)) {
    findings.push({ check, ...(await tried(parts, () => look(parts))) });
  }
  return [...findings, ...(await checkFeeds(parts))];
}

/** One finding a configured feed. */
async function checkFeeds(parts: CheckUpParts): Promise<Finding[]> {
  const check = 'erp';
  const findings: Finding[] = [];
  for (const kind of FEED_KINDS) {
    const finding = await tried(parts, async () => {
      const source = await parts.openFeed(kind);
      return source && ok(await source.check());
    });
    if (finding !== undefined) findings.push({ check, ...finding, found: `${kind}: ${finding.found}` });
  }
  return findings.length > 0 ? findings : [{ check, ...ok('no feed configured') }];
}

async function tried<Found extends Omit<Finding, 'check'> | undefined>(
  { redactor: { redact } }: CheckUpParts,
  look: () => Promise<Found>,
): Promise<Found | Omit<Finding, 'check'>> {
  try {
    return await look();
  } catch (thrown) {
    const { code, message, hint } = asRoadbookError(thrown);
    const found = redact(message);
    return { state: 'fail', found, hint: hint === undefined ? null : redact(hint), code };
  }
}
