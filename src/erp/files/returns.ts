// Outcomes of stops for an ERP that reads files: one file a plan in `returns/`, with the latest outcome of each
// stop, replaced whole. Telling an outcome again leaves the file as it is. A file never holds stops of two plans that
// share a code: where codes are reused its name has the start day, else the other plan begins it anew.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../core/atomic-file.ts';
import { Fatal } from '../../core/errors.ts';
import { localDay } from '../items/moments.ts';
import type { SourceContext, StopOutcome } from '../source.ts';
import { orGone } from './gone.ts';

/** A stop as the file and the HTTP call have it. */
export interface ReturnedStop {
  plan_external_code: string;
  /** ISO instant. */
  plan_period_start: string | null;
  point_external_code: string;
  status: string;
  executed_at: string | null;
  reason: string | null;
  pictures: string[];
}

interface PlanReturn {
  plan_external_code: string;
  /** Absent in a file of an earlier version. */
  plan_period_start?: string | null;
  stops: Omit<ReturnedStop, 'plan_external_code' | 'plan_period_start'>[];
}

export const returnedStop = (stop: StopOutcome): ReturnedStop => ({
  plan_external_code: stop.planExternalCode,
  plan_period_start: stop.planPeriodStart,
  point_external_code: stop.pointExternalCode,
  status: stop.status,
  executed_at: stop.executedAt,
  reason: stop.reason,
  pictures: stop.pictures,
});

type ReturnRule = Pick<SourceContext, 'zone' | 'reuseCodes'>;

interface ReturnedPlan {
  code: string;
  /** ISO instant. */
  start: string | null;
  stops: StopOutcome[];
}

export async function writeReturns(
  folder: string,
  stops: readonly StopOutcome[],
  rule: ReturnRule,
): Promise<void> {
  const plans = new Map<string, ReturnedPlan>();
  for (const stop of stops) {
    const { planExternalCode: code, planPeriodStart: start } = stop;
    const key = JSON.stringify([code, localDay(start, rule.zone)]);
    const plan = plans.get(key) ?? { code, start, stops: [] };
    plan.stops.push(stop);
    plans.set(key, plan);
  }
  for (const plan of plans.values()) await writeReturn(folder, plan, rule);
}

async function writeReturn(
  folder: string,
  plan: ReturnedPlan,
  { zone, reuseCodes }: ReturnRule,
): Promise<void> {
  const { code, start, stops } = plan;
  const day = localDay(start, zone);
  // No name of a code has a dot.
  const name = reuseCodes && day !== '' ? `${safeName(code)}.${day}` : safeName(code);
  const path = join(folder, `${name}.json`);
  const before = await orGone(readFile(path, 'utf8'));
  const known = before === undefined ? undefined : readReturn(before, path);
  const knownDay = localDay(known?.plan_period_start, zone);
  const isOfThisPlan = day === '' || knownDay === '' || knownDay === day;
  const kept = isOfThisPlan ? (known?.stops ?? []) : [];
  const latest = new Map(kept.map((stop) => [stop.point_external_code, stop]));
  for (const stop of stops) {
    const { plan_external_code, plan_period_start, ...rest } = returnedStop(stop);
    latest.set(rest.point_external_code, rest);
  }
  const whole: PlanReturn = {
    plan_external_code: code,
    plan_period_start: start ?? known?.plan_period_start ?? null,
    stops: [...latest.values()],
  };
  const text = `${JSON.stringify(whole, undefined, 2)}\n`;
  if (text !== before) await replaceFile(path, text);
}

function readReturn(text: string, path: string): PlanReturn {
  try {
    const read = JSON.parse(text) as PlanReturn;
    if (Array.isArray(read.stops)) return read;
  } catch {
    // Told below, as for any other text that was not written here.
  }
  throw new Fatal(`The file ${path} is not one that was written here`, {
    code: 'erp_return_unreadable',
    hint: 'Move it away: it is written anew with the next outcomes of its plan.',
  });
}

const SAFE = /[A-Za-z0-9_-]/;
/** Leaves room for an ending and a temporary prefix in the 255 bytes of a file name. */
const LONGEST_NAME = 150;

/**
 * A file name for any external code: different codes get different names, and none can leave its folder.
 * Letters, digits, `_` and `-` stay; every other byte becomes `%XX`. A long name ends in a digest.
 */
export function safeName(code: string): string {
  const name = [...Buffer.from(code.toWellFormed())]
    .map((byte) => (SAFE.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : escaped(byte)))
    .join('');
  if (name.length > 0 && name.length <= LONGEST_NAME) return name;
  const digest = createHash('sha256').update(code).digest('hex').slice(0, 32);
  return `${name.slice(0, LONGEST_NAME - digest.length - 1)}~${digest}`;
}

const escaped = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
