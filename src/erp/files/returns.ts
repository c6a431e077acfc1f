// Writes the outcomes of stops for an ERP that reads files: one file per plan in `returns/`, with the latest outcome of
// each stop. The file is replaced atomically, and only if it changes. A file never mixes two plans of the same code: if
// codes are reused, its name has the start day; otherwise a plan of another day starts the file anew.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../core/atomic-file.ts';
import { Fatal } from '../../core/errors.ts';
import { localDay } from '../items/moments.ts';
import type { SourceContext, StopOutcome } from '../source.ts';
import { ifExists } from './gone.ts';

/** A stop in a return file or an HTTP call. */
export const returnedStop = (stop: StopOutcome) => ({
  plan_external_code: stop.planExternalCode,
  plan_period_start: stop.planPeriodStart,
  point_external_code: stop.pointExternalCode,
  status: stop.status,
  executed_at: stop.executedAt,
  reason: stop.reason,
  pictures: stop.pictures,
});

interface PlanReturn {
  plan_external_code: string;
  /** Absent in a file of an earlier version. */
  plan_period_start?: string | null;
  stops: Omit<ReturnType<typeof returnedStop>, 'plan_external_code' | 'plan_period_start'>[];
}

type ReturnRule = Pick<SourceContext, 'zone' | 'reuseCodes'>;

export async function writeReturns(folder: string, stops: readonly StopOutcome[], rule: ReturnRule): Promise<void> {
  const plans = Map.groupBy(stops, ({ planExternalCode, planPeriodStart }) =>
    JSON.stringify([planExternalCode, localDay(planPeriodStart, rule.zone)]),
  );
  for (const own of plans.values()) await writeReturn(folder, own as [StopOutcome, ...StopOutcome[]], rule);
}

/** All stops are of one plan. */
async function writeReturn(
  folder: string,
  stops: [StopOutcome, ...StopOutcome[]],
  { zone, reuseCodes }: ReturnRule,
): Promise<void> {
  const { planExternalCode: code, planPeriodStart: start } = stops[0];
  const day = localDay(start, zone);
  // The name of a code contains no dot, so the start day cannot collide with a code.
  const name = reuseCodes && day !== '' ? `${safeName(code)}.${day}` : safeName(code);
  const path = join(folder, `${name}.json`);
  const before = await ifExists(readFile(path, 'utf8'));
  const known = before === undefined ? undefined : readReturn(before, path);
  const knownDay = localDay(known?.plan_period_start, zone);
  const isOfThisPlan = day === '' || knownDay === '' || knownDay === day;
  const kept = isOfThisPlan ? (known?.stops ?? []) : [];
  const latest = new Map(kept.map((stop) => [stop.point_external_code, stop]));
  for (const stop of stops) {
    const { plan_external_code, plan_period_start, ...rest } = returnedStop(stop);
    latest.set(rest.point_external_code, rest);
  }
  const planReturn: PlanReturn = {
    plan_external_code: code,
    plan_period_start: start ?? known?.plan_period_start ?? null,
    stops: [...latest.values()],
  };
  const text = `${JSON.stringify(planReturn, undefined, 2)}\n`;
  if (text !== before) await replaceFile(path, text);
}

function readReturn(text: string, path: string): PlanReturn {
  try {
    const read = JSON.parse(text) as PlanReturn;
    if (Array.isArray(read.stops)) return read;
  } catch {
    // Reported below, like any other content that Roadbook did not write.
  }
  throw new Fatal(`The file ${path} was not written by Roadbook`, {
    code: 'erp_return_unreadable',
    hint: 'Move the file away; the next outcomes of its plan create a new one.',
  });
}

/** Leaves room in the 255 bytes of a file name for an extension and a temporary prefix. */
const LONGEST_NAME = 150;

/**
 * A file name for any external code. Different codes get different names, and no code can escape the folder.
 * Letters, digits, `_` and `-` stay; every other byte becomes `%XX`. A long name ends in a digest.
 */
export function safeName(code: string): string {
  const name = encodeURIComponent(code.toWellFormed()).replace(
    /[.!~*'()]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  if (name.length > 0 && name.length <= LONGEST_NAME) return name;
  const digest = createHash('sha256').update(code).digest('hex').slice(0, 32);
  return `${name.slice(0, LONGEST_NAME - digest.length - 1)}~${digest}`;
}
