// The client in a process of its own, for the fault matrix: makes every call under each fault of its arguments, and
// prints the outcomes with its peak memory. The sandbox itself counts how often the service was asked.

import { RoadbookError } from '../../../src/core/errors.ts';
import { createLog } from '../../../src/core/log.ts';
import { createLimiter } from '../../../src/core/rate/limiter.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createFleet, type Fleet } from '../../../src/fleet/client.ts';
import type { CallName } from '../../../src/sandbox/http/call-names.ts';
import type { Credentials, Ledger } from '../../../src/sandbox/sandbox.ts';
import { peakMb } from '../measure/peak-memory.ts';
import { type AnyCall, callsOf, findTargets } from './fault-calls.ts';
import { type Cell, type MatrixFault, TRIES } from './fault-matrix.ts';
import { createSessionMemory } from './session-memory.ts';

interface Order {
  url: string;
  credentials: Credentials;
  rows: { fault: MatrixFault; large: boolean }[];
  /** The only one to make. */
  call?: CallName;
}

const { url, credentials, rows, call: only } = JSON.parse(process.argv[2] ?? '') as Order;

/** How long one exchange and one call may take, by the limit that ends the fault. */
interface Limits {
  timeoutMs: number;
  deadlineMs: number;
  /** How long a call may take under such a fault: all its tries, or the deadline where the service answers at once. */
  allowedMs: number;
}
const BY_TIMEOUT: Limits = { timeoutMs: 1_500, deadlineMs: 10_000, allowedMs: TRIES * 1_500 };
const BY_DEADLINE: Limits = { timeoutMs: 10_000, deadlineMs: 2_500, allowedMs: 2_500 };
const OTHERS: Limits = { timeoutMs: 30_000, deadlineMs: 60_000, allowedMs: 30_000 };
/** Room for a busy machine: a call that has not ended by then hangs. */
const hungMs = ({ allowedMs }: Limits): number => 3 * allowedMs;

function limitsOf({ fault, ms = 0, retry_after, seconds }: MatrixFault): Limits {
  if (fault === 'hang' || fault === 'endless' || (fault === 'drip' && ms > 100)) return BY_TIMEOUT;
  return fault === '429' || retry_after !== undefined || seconds !== undefined ? BY_DEADLINE : OTHERS;
}

const admin = async (path: string, body: unknown): Promise<void> => {
  const answer = await fetch(`${url}/_sandbox${path}`, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
};
const asked = async (call: string): Promise<number> => {
  const ledger = (await (await fetch(`${url}/_sandbox/ledger`)).json()) as Ledger;
  return (ledger.requests as Record<string, number>)[call] ?? 0;
};

function open({ timeoutMs, deadlineMs }: Limits): Fleet {
  const redactor = createRedactor();
  return createFleet(
    {
      baseUrl: url,
      username: credentials.username,
      parentUsername: credentials.parent_username,
      password: credentials.password,
      realm: credentials.realm,
      renewal: 'auto',
      collections: 'json',
      timeoutMs,
      maxBodyMb: 64,
    },
    {
      clock: systemClock,
      memory: createSessionMemory(),
      limiter: createLimiter({ concurrency: 4, perMinute: 1_000_000, clock: systemClock }),
      log: createLog({ level: 'silent', redactor, write: () => undefined }),
      redactor,
      retry: { attempts: TRIES, baseMs: 1, capMs: 1, deadlineMs },
    },
  );
}

async function outcomeOf(work: Promise<unknown>, limits: Limits): Promise<string> {
  const hung = new AbortController();
  const late = systemClock.sleep(hungMs(limits), hung.signal).then(
    () => 'hung',
    () => 'ended',
  );
  const done = work.then(
    () => 'ok',
    (error: unknown) => (error instanceof RoadbookError ? `${error.name} ${error.code}` : String(error)),
  );
  const outcome = await Promise.race([done, late]);
  hung.abort();
  return ({} as { polluted?: unknown }).polluted === undefined ? outcome : 'polluted';
}

interface Try {
  call: AnyCall;
  kind: Cell['kind'];
  /** The call under the fault, as the sandbox counts it. */
  counted: CallName;
  fleet: Fleet;
}

async function cellOf({ call, kind, counted, fleet }: Try, limits: Limits): Promise<Cell> {
  const before = await asked(counted);
  const startedAt = performance.now();
  const outcome = await outcomeOf(call.send(fleet), limits);
  const ms = performance.now() - startedAt;
  return { call: counted, kind, outcome, attempts: (await asked(counted)) - before, ms };
}

/** A client that has logged in; on a busy machine that may take more than one go. */
async function loggedIn(limits: Limits): Promise<Fleet> {
  const fleet = open(limits);
  for (let goes = 0; fleet.session().state !== 'active' && goes < 20; goes++) {
    await vehicleCall.send(fleet).catch(() => undefined);
  }
  return fleet;
}

/** The fault strikes once all are ready for it, and is gone afterwards. */
async function together(tries: readonly Try[], fault: MatrixFault, limits: Limits): Promise<Cell[]> {
  // A token that ends at every request would never serve.
  const times = fault.fault === 'expired-token' ? { times: 1 } : {};
  await admin(
    '/faults',
    tries.map(({ counted }) => ({ ...fault, ...times, call: counted })),
  );
  const cells = await Promise.all(tries.map((one) => cellOf(one, limits)));
  for (const { fleet } of tries) fleet.close();
  await fetch(`${url}/_sandbox/faults`, { method: 'DELETE' });
  await admin('/credentials', { password: credentials.password });
  return cells;
}

async function sessionCells(fault: MatrixFault, limits: Limits): Promise<Cell[]> {
  const login: Try = { call: vehicleCall, kind: 'login', counted: 'login', fleet: open(limits) };
  const loggingIn = await together([login], fault, limits);
  const renewal: Try = { call: vehicleCall, kind: 'renew', counted: 'renew', fleet: await loggedIn(limits) };
  await admin('/tokens/expire', {});
  return [...loggingIn, ...(await together([renewal], fault, limits))];
}

const first = open(OTHERS);
const calls = callsOf(await findTargets(first));
first.close();
const vehicleCall = calls.find(({ name }) => name === 'vehicles') as AnyCall;

const results: { cells: Cell[]; peakMb: number }[] = [];
for (const { fault, large } of rows) {
  const limits = limitsOf(fault);
  const ready = async (call: AnyCall): Promise<Try> => ({
    call,
    kind: call.kind,
    counted: call.name as CallName,
    fleet: await loggedIn(limits),
  });
  const cells: Cell[] = [];
  const wanted = calls.filter(({ name }) => only === undefined || name === only);
  // Ended tokens and a revoked password are everybody's.
  if (large || fault.fault === 'expired-token' || fault.fault === 'revoked-password') {
    for (const call of wanted) cells.push(...(await together([await ready(call)], fault, limits)));
  } else cells.push(...(await together(await Promise.all(wanted.map(ready)), fault, limits)));
  if (only === undefined) cells.push(...(await sessionCells(fault, limits)));
  results.push({ cells, peakMb: Math.round(peakMb()) });
}
process.stdout.write(JSON.stringify(results));
