// The fault matrix: every fault of the sandbox on every call of the service, and the expected outcome.
// The expectations are written down here, apart from the client's own tables; attempts are counted by the sandbox.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { CallName } from '../../../src/sandbox/http/call-names.ts';
import { type Fault, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { PRODUCT_ENV, PRODUCT_FLAGS } from '../process/product-flags.ts';
import { NOON } from './fault-calls.ts';

export type MatrixFault = Omit<Fault, 'call'>;

/** The outcome of a call: `ok`, or the class and code of its error, and how often the service was asked. */
export type Verdict = readonly [outcome: string, attempts: number];

export interface Expected {
  read: Verdict;
  write: Verdict;
  login: Verdict;
  /** A renewal that fails leaves the login: the call succeeds. Attempts: each way of renewing once, at most. */
  renew?: Verdict;
  /** Calls that differ. */
  but?: Readonly<Record<string, Verdict>>;
}

export const TRIES = 3;
const ONCE: Verdict = ['ok', 1];
const FINE: Expected = { read: ONCE, write: ONCE, login: ONCE };
const UNCLEAR: Verdict = ['Ambiguous answer_unclear', 1];
const retried = (code: string): Expected => ({
  read: [`Retriable ${code}`, TRIES],
  write: UNCLEAR,
  login: [`Retriable ${code}`, TRIES],
});
const NO_LOGIN: Verdict = ['Fatal login_unavailable', 1];
const LOGIN_REFUSED: Verdict = ['Fatal login_refused', 1];
const skipped = (code: string, login = NO_LOGIN): Expected => ({
  read: [`Skippable ${code}`, 1],
  write: [`Skippable ${code}`, 1],
  login,
});
const TOO_LARGE: Expected = { read: ['Skippable body_too_large', 1], write: UNCLEAR, login: NO_LOGIN };
/** Written down by the wait that is asked for and by the deadline, so the number is the most there may be. */
const THROTTLED: Expected = {
  read: ['Retriable throttled', TRIES],
  write: ['Retriable throttled', 1],
  login: ['Retriable throttled', TRIES],
  renew: ['Retriable throttled', TRIES],
};
const UNAUTHORISED: Expected = {
  // With the token, with a renewed one, with one of a login.
  read: ['Fatal unauthorised', 3],
  write: ['Fatal unauthorised', 1],
  login: LOGIN_REFUSED,
};
const FORBIDDEN: Expected = {
  read: ['Fatal forbidden', 1],
  write: ['Fatal forbidden', 1],
  login: LOGIN_REFUSED,
};
const REDIRECTED: Expected = { read: ['Fatal redirected', 1], write: UNCLEAR, login: NO_LOGIN };

export interface MatrixRow {
  fault: MatrixFault;
  expected: Expected;
  /** Calls are made one after another, so that the peak of memory is that of one. */
  large?: boolean;
}

const LARGE_BYTES = 500_000_000;
const STATUSES = {
  '400': skipped('request_rejected', LOGIN_REFUSED),
  '401': UNAUTHORISED,
  '403': FORBIDDEN,
  '404': skipped('not_found'),
  '409': skipped('conflict'),
  '413': skipped('too_large'),
  '422': skipped('request_rejected', LOGIN_REFUSED),
  '429': THROTTLED,
  '500': retried('service_failed'),
  '502': retried('service_failed'),
  '503': retried('service_failed'),
} as const;

/** An empty body is enough for a create or change, but leaves a plan unclear. */
const EMPTY: Expected = { ...retried('bad_answer'), write: ONCE, but: { 'import-route-plan': UNCLEAR } };
/** An object without an id is no record; for a write any JSON is enough. */
const WRONG_SHAPE: Expected = { ...retried('bad_answer'), write: ONCE };

const BEFORE: readonly MatrixRow[] = [
  { fault: { fault: 'latency', ms: 5 }, expected: FINE },
  { fault: { fault: 'drip', ms: 1 }, expected: FINE },
  { fault: { fault: 'drip', ms: 400 }, expected: retried('timed_out') },
  { fault: { fault: 'endless' }, expected: retried('timed_out') },
  { fault: { fault: 'hang' }, expected: retried('timed_out') },
  { fault: { fault: 'refused' }, expected: retried('connection_lost') },
  { fault: { fault: 'reset-before-commit' }, expected: retried('connection_lost') },
  { fault: { fault: 'reset-after-commit' }, expected: retried('connection_lost') },
  { fault: { fault: 'truncated' }, expected: retried('connection_lost') },
  { fault: { fault: 'html' }, expected: retried('bad_answer') },
  { fault: { fault: 'empty' }, expected: EMPTY },
  { fault: { fault: 'wrong-shape' }, expected: WRONG_SHAPE },
  { fault: { fault: 'wrong-type' }, expected: FINE },
  { fault: { fault: 'wrong-encoding' }, expected: retried('bad_answer') },
  { fault: { fault: 'proto-keys' }, expected: FINE },
  { fault: { fault: 'duplicate' }, expected: FINE },
  { fault: { fault: 'reordered' }, expected: FINE },
  { fault: { fault: 'no-records' }, expected: FINE },
  { fault: { fault: 'fewer-records' }, expected: FINE },
  { fault: { fault: 'deep', bytes: 100_000 }, expected: retried('bad_answer'), large: true },
  { fault: { fault: 'huge', bytes: LARGE_BYTES }, expected: TOO_LARGE, large: true },
  { fault: { fault: 'gzip-bomb', bytes: LARGE_BYTES }, expected: TOO_LARGE, large: true },
  { fault: { fault: 'redirect', location: 'OTHER_HOST' }, expected: REDIRECTED },
  // The sandbox has nothing there; only a read is sent on.
  {
    fault: { fault: 'redirect', location: '/elsewhere' },
    expected: { read: ['Skippable not_found', 1], write: UNCLEAR, login: NO_LOGIN },
  },
  {
    fault: { fault: 'expired-token' },
    expected: { read: ['ok', 2], write: ['Fatal unauthorised', 1], login: ONCE },
  },
  { fault: { fault: 'revoked-password' }, expected: { ...FINE, login: LOGIN_REFUSED } },
  ...Object.entries(STATUSES).map(([fault, expected]) => ({
    fault: { fault: fault as keyof typeof STATUSES },
    expected,
  })),
  { fault: { fault: '429', retry_after: 'date' }, expected: THROTTLED },
  { fault: { fault: '429', seconds: 0 }, expected: THROTTLED },
  {
    fault: { fault: '503', retry_after: 'seconds' },
    expected: { ...THROTTLED, write: UNCLEAR },
  },
];

/** The same once the call has been carried out: a write must not be taken for one that did nothing. */
const AFTER: readonly MatrixRow[] = BEFORE.filter(({ fault: { fault } }) =>
  ['latency', 'hang', 'redirect', ...Object.keys(STATUSES)].includes(fault),
).map((row) => ({ ...row, fault: { ...row.fault, after_commit: true } }));

export const MATRIX: readonly MatrixRow[] = [...BEFORE, ...AFTER];

/** One line of the client's process: the outcome of a cell. */
export interface Cell {
  call: string;
  kind: 'read' | 'write' | 'login' | 'renew';
  outcome: string;
  attempts: number;
  ms: number;
}

export interface RowResult {
  name: string;
  cells: number;
  /** In words; empty where all is as it should be. */
  wrong: string[];
  /** Of the client's process over all calls of the row. */
  peakMb: number;
  /** Longest cell. */
  longestMs: number;
}

export const nameOfFault = ({ fault, after_commit, ...rest }: MatrixFault): string =>
  [fault, ...Object.entries(rest).map(([key, value]) => `${key}=${value}`), after_commit ? 'after commit' : '']
    .filter((word) => word !== '')
    .join(' ');

/** Attempts that answers with a wait or a choice of ways bound from above only. */
const BOUNDED = ['renew'];

function verdictOn({ expected }: MatrixRow, { call, kind, outcome, attempts }: Cell): string | undefined {
  const fallback: Verdict = kind === 'renew' ? ['ok', TRIES] : expected[kind];
  const [wanted, most] = (kind === 'renew' ? expected.renew : expected.but?.[call]) ?? fallback;
  const isBounded = BOUNDED.includes(kind) || wanted.endsWith('throttled');
  const isRight = outcome === wanted && (isBounded ? attempts <= most && attempts > 0 : attempts === most);
  return isRight ? undefined : `${call}: ${outcome} after ${attempts}, not ${wanted} after ${most}`;
}

/** Somebody else's server; any request that reaches it is a leak. */
async function startStranger(): Promise<{ url: string; visits(): number; close(): void }> {
  let visits = 0;
  const server = createServer((_request, response) => {
    visits += 1;
    response.end('{"data":[]}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    visits: () => visits,
    close: () => server.close(),
  };
}

const CLIENT = join(import.meta.dirname, 'fault-client.ts');

/** Most memory of the client with the cap on bodies at its default of 64 MiB; a large body in memory would exceed it by far. */
export const MOST_MB = 350;

/**
 * Runs rows, all in one process of the client: its peak of memory is that of the worst of them. Where a call is named,
 * only that one is made.
 */
export async function runRows(rows: readonly MatrixRow[], call?: CallName): Promise<RowResult[]> {
  const sandbox = await startSandbox({ startAt: NOON, churn: false });
  const stranger = await startStranger();
  const faults = rows.map(({ fault, large = false }) => ({
    large,
    fault: fault.location === 'OTHER_HOST' ? { ...fault, location: stranger.url } : fault,
  }));
  try {
    const child = spawn(
      process.execPath,
      [
        ...PRODUCT_FLAGS,
        CLIENT,
        JSON.stringify({ url: sandbox.url, credentials: sandbox.credentials, rows: faults, call }),
      ],
      { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...PRODUCT_ENV } },
    );
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`the client's process ended with ${code}`);
    const results = JSON.parse(text) as { cells: Cell[]; peakMb: number }[];
    return rows.map((row, at) => resultOf(row, results[at]?.cells ?? [], results[at]?.peakMb ?? 0, stranger));
  } finally {
    stranger.close();
    await sandbox.close();
  }
}

function resultOf(row: MatrixRow, cells: readonly Cell[], peakMb: number, stranger: { visits(): number }): RowResult {
  const wrong = cells.map((cell) => verdictOn(row, cell)).filter((words) => words !== undefined);
  if (cells.length === 0) wrong.push('no cell was run');
  if (stranger.visits() > 0) wrong.push('another host was called');
  const longestMs = Math.max(0, ...cells.map(({ ms }) => ms));
  return { name: nameOfFault(row.fault), cells: cells.length, wrong, peakMb, longestMs };
}
