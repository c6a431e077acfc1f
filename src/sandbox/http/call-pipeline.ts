// The steps of every request: count it, apply early faults, check the bearer token, carry out the call, apply late
// faults, send the answer. The order matters: nothing is committed before the early faults.
import type { ServerResponse } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { SandboxDependencies } from '../dependencies.ts';
import { applyLateFault, substituteFor } from '../faults/fault-effects.ts';
import type { Fault } from '../faults/faults.ts';
import { type Answer, mapRecords, problemAnswer, Rejection } from './answer.ts';
import type { Call, CallRequest } from './call.ts';
import {
  deliver,
  deliverEndlessly,
  deliverInDrips,
  deliverTruncated,
  reset,
  untilClosed,
  waitOrClose,
} from './delivery.ts';
import { parsedBody } from './parameters.ts';

export type Env = { Bindings: HttpBindings };

const DEFAULT_LATENCY_MS = 1_000;
const DEFAULT_DRIP_MS = 50;

export async function serveCall(
  dependencies: SandboxDependencies,
  call: Call,
  c: Context<Env>,
  query: URLSearchParams,
): Promise<void> {
  dependencies.ledger.arrived(call.name);
  let status: number | undefined;
  try {
    status = await answerOrFail(dependencies, call, c, query);
  } finally {
    dependencies.ledger.left(status);
  }
}

/** Returns the sent status; undefined if the client got no answer. */
async function answerOrFail(
  dependencies: SandboxDependencies,
  call: Call,
  c: Context<Env>,
  query: URLSearchParams,
): Promise<number | undefined> {
  const { account, clock, faults, tokens } = dependencies;
  const { incoming, outgoing } = c.env;
  const struck = faults.strike(call.name);
  const has = (name: Fault['fault']): Fault | undefined => struck.find((fault) => fault.fault === name);
  if (has('refused')) {
    outgoing.socket?.destroy();
    return undefined;
  }
  if (await delayed(outgoing, struck, false)) return undefined;
  const text = await c.req.text();
  if (has('reset-before-commit')) {
    reset(outgoing);
    return undefined;
  }
  if (has('expired-token')) tokens.expireAll('access');
  if (has('revoked-password')) account.revokePassword();
  const substitutes = struck
    .filter((fault) => fault.after_commit !== true)
    .map((fault) => substituteFor(fault, clock.wallNow()));
  const bearer = /^Bearer (\S+)$/i.exec(incoming.headers.authorization ?? '')?.[1];
  const request = { query, params: c.req.param() as Record<string, string>, bearer };
  const answer =
    substitutes.find((substitute) => substitute !== undefined) ??
    (await carryOut(dependencies, call, request, text, struck));
  if (await delayed(outgoing, struck, true)) return undefined;
  outgoing.setHeader('date', new Date(clock.wallNow()).toUTCString());
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

async function carryOut(
  dependencies: SandboxDependencies,
  call: Call,
  request: Omit<CallRequest, 'body'>,
  text: string,
  struck: readonly Fault[],
): Promise<Answer> {
  let answer = await handle(dependencies, call, request, text);
  const added = dependencies.addedRecords.get(call.name);
  if (added !== undefined && answer.status === 200) {
    answer = mapRecords(answer, (records) => [...records, ...added]);
  }
  for (const fault of struck) answer = applyLateFault(answer, fault, dependencies.clock.wallNow());
  return answer;
}

async function handle(
  dependencies: SandboxDependencies,
  call: Call,
  request: Omit<CallRequest, 'body'>,
  text: string,
): Promise<Answer> {
  try {
    const { bearer = '' } = request;
    if (call.needsBearer !== false && !(await dependencies.tokens.accepts('access', bearer))) {
      throw new Rejection(401, 'Missing, invalid or expired access token');
    }
    return await call.handle(dependencies, { ...request, body: parsedBody(text, 400) });
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
