// A drop folder for each test of a file that calls useDropFolder, with its clock and its content.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { createManualClock, type ManualClock } from '../../../src/core/time/manual-clock.ts';
import { localDay } from '../../../src/erp/items/moments.ts';
import type { Mapping } from '../../../src/erp/rows/mapping.ts';
import type { ErpBatch, ErpSource, ItemOutcome, SourceContext } from '../../../src/erp/source.ts';
import { openSource } from '../../../src/erp/sources.ts';
import { contextFor, drain, finishTaken, NOW, remember, type Taken, temporaryFolder, ZONE } from './erp-benches.ts';

export let folder: string;
export let clock: ManualClock;

export function useDropFolder(): void {
  beforeEach(() => {
    folder = temporaryFolder();
    clock = createManualClock(NOW);
    taken = new Map();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
}

export const open = (
  change: Partial<SourceContext> = {},
  mapping: Mapping = {},
  keepFilesMs = Number.POSITIVE_INFINITY,
): ErpSource =>
  openSource({ source: 'files', folder, settleMs: 2_000, keepFilesMs, mapping }, contextFor(clock, change));

export const drop = (name: string, content: string | Buffer): void => writeFileSync(join(folder, name), content);
const DAY = '2026-05-18';
export const plan = (code: string, day = DAY) => ({
  external_code: code,
  date_time_start: `${day}T08:00`,
  date_time_end: `${day}T18:00`,
  route_points: [{ name: 'A', address: 'Rua Um, 1' }],
});
export const dropPlans = (name: string, ...codes: string[]): void =>
  drop(name, JSON.stringify(codes.map((code) => plan(code))));

/** The files that the engine has taken. */
export let taken: Taken;
/** Reads new files and takes them. */
export const take = (source: ErpSource): Promise<ErpBatch[]> =>
  drain(source, clock, (batch) => remember(taken, batch, clock), taken);
/** Finishes the taken files whose items all have one of these outcomes. */
export const finish = (source: ErpSource, ...outcomes: ItemOutcome[]): Promise<void> =>
  finishTaken(source, taken, ({ externalCode, startDay }) =>
    outcomes.find((each) => each.externalCode === externalCode && localDay(each.periodStart, ZONE) === startDay),
  );
export const codesOf = (batches: readonly ErpBatch[]): string[] =>
  batches.flatMap(({ items }) => items.map(({ externalCode }) => externalCode));
export const outcome = (
  externalCode: string,
  state: ItemOutcome['state'] = 'confirmed',
  day: string | null = DAY,
): ItemOutcome => ({
  externalCode,
  periodStart: day && `${day}T11:00:00.000Z`,
  state,
  remoteId: state === 'confirmed' ? 7 : null,
  message: null,
});
export const everythingIn = (place = ''): string[] => {
  const path = join(folder, place);
  return existsSync(path)
    ? readdirSync(path)
        .filter((name) => name.includes('.'))
        .sort()
    : [];
};
/** Without result tables. */
export const inFolder = (place = ''): string[] => everythingIn(place).filter((name) => !name.endsWith('.result.csv'));
export const resultIn = (path: string) => JSON.parse(readFileSync(join(folder, `${path}.result.json`), 'utf8'));
export const lateResults = (): JsonObject[] => {
  const path = join(folder, 'late-results.jsonl');
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as JsonObject);
};
