// Faults on demand: which faults are set and which of them strike a request. Their effect on the answer is in
// fault-effects.ts. Rates use the seeded random generator, so the same steps meet the same faults.
import { z } from 'zod';
import { issueTexts, parseWithMessages } from '../../core/text/zod-words.ts';
import { CALL_NAMES, type CallName } from '../http/call-names.ts';
import type { LedgerRecorder } from '../ledger.ts';
import { type Random, seededRandom } from '../made-up/seeded-random.ts';

/** Statuses that a fault can send instead of the call's answer. */
const STATUS_FAULTS = ['400', '401', '403', '404', '409', '413', '422', '429', '500', '502', '503'] as const;

export const FAULT_NAMES = [
  'latency',
  'drip',
  'refused',
  'reset-before-commit',
  'reset-after-commit',
  'truncated',
  'html',
  'empty',
  'wrong-shape',
  'duplicate',
  'reordered',
  'no-records',
  'fewer-records',
  'huge',
  'gzip-bomb',
  'deep',
  'endless',
  'proto-keys',
  'wrong-type',
  'wrong-encoding',
  'redirect',
  'hang',
  'expired-token',
  'revoked-password',
  ...STATUS_FAULTS,
] as const;

export const faultSchema = z.strictObject({
  /** A call's name, or `*` for all of them. */
  call: z.enum(['*', ...CALL_NAMES]),
  fault: z.enum(FAULT_NAMES),
  /** Share of matching requests that the fault strikes. Default 1. */
  rate: z.number().min(0).max(1).optional(),
  /** The most times that the fault strikes. Default: no limit. */
  times: z.int().min(0).optional(),
  /** Matching requests that pass before the fault can strike. Default 0. */
  skip: z.int().min(0).optional(),
  /** latency: the delay (default 1000); drip and endless: the pause between chunks (default 50). */
  ms: z.number().min(0).optional(),
  /** 429 and 503: the form of Retry-After. Default: seconds for 429, missing for 503. */
  retry_after: z.enum(['seconds', 'date', 'missing']).optional(),
  /** 429 and 503: the wait in Retry-After. Default 1. */
  seconds: z.int().min(0).optional(),
  /** huge, gzip-bomb: the uncompressed size of the body (default 64 MiB); deep: the nesting levels (default 100000). */
  bytes: z.int().min(1).optional(),
  /** redirect: the target. Default `/elsewhere`. */
  location: z.string().optional(),
  /** Statuses, redirect, latency and hang: true carries the call out first. Default false. */
  after_commit: z.boolean().optional(),
});

export type Fault = z.infer<typeof faultSchema>;

interface SetFault {
  fault: Fault;
  random: Random;
  seen: number;
  struck: number;
}

export type Faults = ReturnType<typeof createFaults>;

export function createFaults(settings: { seed: number; faults: readonly Fault[] }, ledger: LedgerRecorder) {
  let set: SetFault[] = [];
  let added = 0;

  const add = (fault: Fault): void => {
    added += 1;
    const random = seededRandom(settings.seed, 'fault', added);
    set.push({ fault: faultSchema.parse(fault), random, seen: 0, struck: 0 });
  };
  settings.faults.forEach(add);

  const strikes = (one: SetFault, call: CallName): boolean => {
    const { fault } = one;
    if (fault.call !== '*' && fault.call !== call) return false;
    one.seen += 1;
    if (one.seen <= (fault.skip ?? 0) || one.struck >= (fault.times ?? Infinity)) return false;
    if (!one.random.chance(fault.rate ?? 1)) return false;
    one.struck += 1;
    ledger.count('faults_injected', fault.fault);
    return true;
  };

  return {
    add,
    clear(): void {
      set = [];
    },
    list: () => set.map(({ fault, struck }) => ({ ...fault, struck })),
    /** The faults that strike this request, in the order they were set. */
    strike: (call: CallName): Fault[] => set.filter((one) => strikes(one, call)).map((one) => one.fault),
  };
}

const FORM = '<call>:<fault>[:name=value,...]';

/** Parses a fault from a command-line flag such as `events:429:rate=0.1,retry_after=date`. Throws if it is invalid. */
export function parseFaultFlag(text: string): Fault {
  const [call, fault, ...rest] = text.split(':');
  const settings = rest.join(':');
  const pairs = settings === '' ? [] : settings.split(',').map((pair) => pair.split('='));
  const fields = Object.fromEntries(pairs.map(([name, ...value]) => [name, readValue(value.join('='))]));
  const given = { call, fault, ...fields };
  const result = parseWithMessages(faultSchema, given);
  if (result.success) return result.data;
  const texts = issueTexts(result.error.issues, faultSchema, given, 'fault');
  throw new Error(`Fault "${text}" is not ${FORM}: ${texts.join('; ')}`);
}

function readValue(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return text !== '' && !Number.isNaN(Number(text)) ? Number(text) : text;
}
