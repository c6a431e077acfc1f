// Outcomes of stops for an ERP that reads files: one file a plan in `returns/`, with the latest outcome of each
// stop, replaced whole. Telling an outcome again leaves the file as it is.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fatal } from '../core/errors.ts';
import { orGone, replaceFile } from './durable-file.ts';
import { safeName } from './safe-name.ts';
import type { StopOutcome } from './source.ts';

/** A stop as the file and the HTTP call have it. */
export interface ReturnedStop {
  plan_external_code: string;
  point_external_code: string;
  status: string;
  executed_at: string | null;
  reason: string | null;
  pictures: string[];
}

interface PlanReturn {
  plan_external_code: string;
  stops: Omit<ReturnedStop, 'plan_external_code'>[];
}

export const returnedStop = (stop: StopOutcome): ReturnedStop => ({
  plan_external_code: stop.planExternalCode,
  point_external_code: stop.pointExternalCode,
  status: stop.status,
  executed_at: stop.executedAt,
  reason: stop.reason,
  pictures: stop.pictures,
});

export async function writeReturns(folder: string, stops: readonly StopOutcome[]): Promise<void> {
  const byPlan = Map.groupBy(stops, ({ planExternalCode }) => planExternalCode);
  for (const [code, told] of byPlan) {
    const path = join(folder, `${safeName(code)}.json`);
    const before = await orGone(readFile(path, 'utf8'));
    const known = before === undefined ? [] : readReturn(before, path).stops;
    const latest = new Map(known.map((stop) => [stop.point_external_code, stop]));
    for (const stop of told) {
      const { plan_external_code, ...rest } = returnedStop(stop);
      latest.set(rest.point_external_code, rest);
    }
    const text = `${JSON.stringify({ plan_external_code: code, stops: [...latest.values()] }, undefined, 2)}\n`;
    if (text !== before) await replaceFile(path, text);
  }
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
