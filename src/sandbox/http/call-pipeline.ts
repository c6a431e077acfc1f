// The steps of every request: count it, apply early faults, check the bearer token, carry out the call, apply late
// faults, send the answer. The order matters: nothing is committed before the early faults.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { applyLateFault, replacementFor } from '../faults/fault-effects.ts';
import type { Fault, Faults } from '../faults/faults.ts';
import type { LedgerRecorder } from '../ledger.ts';
import type { SandboxClock } from '../sandbox-clock.ts';
import { type Answer, mapRecords, problemAnswer, Rejection } from './answer.ts';
import type { Call, CallRequest } from './call.ts';
import type { CallName } from './call-names.ts';
import {
  deliver,
  deliverEndlessly,
  deliverInDrips,
  deliverTruncated,
  reset,
  untilClosed,
  waitOrClose,
} from './delivery.ts';
import type { Tokens } from './tokens.ts';

export interface PipelineDependencies {
  faults: Faults;
  ledger: LedgerRecorder;
  tokens: Tokens;
  /** Records that a test added to a call's answers. */
  addedRecords: Map<CallName, unknown[]>;
  clock: SandboxClock;
  /** The effect of these faults on the account; it happens before the call. */
  sessionFaults: Record<'expired-token' | 'revoked-password', () => void>;
}

export interface RawRequest {
  query: URLSearchParams;
  params: Record<string, string>;
  incoming: IncomingMessage;
  outgoing: ServerResponse;
  readText(): Promise<string>;
}

const DEFAULT_LATENCY_MS = 1_000;
const DEFAULT_DRIP_MS = 50;

export async function serveCall(dependencies: PipelineDependencies, call: Call, raw: RawRequest): Promise<void> {
  dependencies.ledger.arrived(call.name);
  let status: number | undefined;
  try {
    status = await answerOrFail(dependencies, call, raw);
  } finally {
    dependencies.ledger.left(status);
  }
}

/** Returns the sent status; undefined if the client got no answer. */
async function answerOrFail(
  dependencies: PipelineDependencies,
  call: Call,
  raw: RawRequest,
): Promise<number | undefined> {
  const { outgoing } = raw;
  const struck = dependencies.faults.strike(call.name);
  const has = (name: Fault['fault']): Fault | undefined => struck.find((fault) => fault.fault === name);
  if (has('refused')) {
    outgoing.socket?.destroy();
    return undefined;
  }
  if (await delayed(outgoing, struck, false)) return undefined;
  const text = await raw.readText();
  if (has('reset-before-commit')) {
    reset(outgoing);
    return undefined;
  }
  for (const name of ['expired-token', 'revoked-password'] as const) {
    if (has(name)) dependencies.sessionFaults[name]();
  }
  const answer =
    replacement(struck, dependencies.clock.wallNow()) ?? (await carryOut(dependencies, call, raw, text, struck));
  if (await delayed(outgoing, struck, true)) return undefined;
  outgoing.setHeader('date', new Date(dependencies.clock.wallNow()).toUTCString());
  return await send(outgoing, answer, has);
}

/** Applies latency and hang, before or after the commit. True for a hang, which ends when the client gives up. */
async function delayed(outgoing: ServerResponse, struck: readonly Fault[], isCommitted: boolean): Promise<boolean> {
  const here = struck.filter((fault) => (fault.after_commit ?? false) === isCommitted);
  const latency = here.find((fault) => fault.fault === 'latency');
  if (latency !== undefined) await waitOrClose(outgoing, latency.ms ?? DEFAULT_LATENCY_MS);
  const hangs = here.some((fault) => fault.fault === 'hang');
  if (hangs) await untilClosed(outgoing);
  return hangs;
}

function replacement(struck: readonly Fault[], wallNow: number): Answer | undefined {
  for (const fault of struck) {
    const answer = replacementFor(fault, wallNow);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

async function carryOut(
  dependencies: PipelineDependencies,
  call: Call,
  raw: RawRequest,
  text: string,
  struck: readonly Fault[],
): Promise<Answer> {
  let answer = await handle(dependencies.tokens, call, raw, text);
  const added = dependencies.addedRecords.get(call.name);
  if (added !== undefined && answer.status === 200) {
    answer = mapRecords(answer, (records) => [...records, ...added]);
  }
  for (const fault of struck) answer = applyLateFault(answer, fault, dependencies.clock.wallNow());
  return answer;
}

async function handle(tokens: Tokens, call: Call, raw: RawRequest, text: string): Promise<Answer> {
  try {
    const bearer = bearerOf(raw.incoming);
    if (call.needsBearer && (bearer === undefined || !(await tokens.accepts('access', bearer)))) {
      throw new Rejection(401, 'Missing, invalid or expired access token');
    }
    const request: CallRequest = { query: raw.query, params: raw.params, body: parsedBody(text), bearer };
    return await call.handle(request);
  } catch (error) {
    if (error instanceof Rejection) return problemAnswer(error.status, error.message);
    throw error;
  }
}

async function send(
  outgoing: ServerResponse,
  answer: Answer,
  has: (name: Fault['fault']) => Fault | undefined,
): Promise<number | undefined> {
  if (has('reset-after-commit')) {
    reset(outgoing);
    return undefined;
  }
  const [drip, endless] = [has('drip'), has('endless')];
  if (endless !== undefined) await deliverEndlessly(outgoing, answer, endless.ms ?? DEFAULT_DRIP_MS);
  else if (has('truncated')) await deliverTruncated(outgoing, answer);
  else if (drip !== undefined) await deliverInDrips(outgoing, answer, drip.ms ?? DEFAULT_DRIP_MS);
  else await deliver(outgoing, answer);
  return answer.status;
}

const bearerOf = (incoming: IncomingMessage): string | undefined =>
  /^Bearer (\S+)$/i.exec(incoming.headers.authorization ?? '')?.[1];

function parsedBody(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new Rejection(400, 'The body is not JSON');
  }
}
