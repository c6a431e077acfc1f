// The result beside a finished file: the state of each item, and the read errors; as JSON for programs and as CSV for the
// people who correct the file. Later outcomes of an item are appended to `late-results.jsonl`.
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Options } from 'csv-stringify/sync';
import { makeFolder, syncFolder } from '../../core/atomic-file.ts';
import { chunks } from '../../core/chunks.ts';
import { yieldToEventLoop } from '../../core/event-loop.ts';
import { ITEMS_PER_TURN } from '../batches.ts';
import type { CellPlace, FileContent, ItemOutcome, ReadError } from '../source.ts';
import { type Language, RESULT_HEADS, reasonIn, STATE_WORDS } from './result-words.ts';

/** For the ERP, a partial item has a state of its own. */
export const reportedState = ({ state, isPartial }: ItemOutcome) => (isPartial ? 'partial' : state);

/** An outcome in a result file, a statement or an HTTP call. */
export const reportedOutcome = (outcome: ItemOutcome) => ({
  external_code: outcome.externalCode,
  period_start: outcome.periodStart,
  state: reportedState(outcome),
  remote_id: outcome.remoteId,
  message: outcome.message,
  reasons: outcome.reasons ?? [],
});

const fileOutcome = (outcome: ItemOutcome) => ({
  ...reportedOutcome(outcome),
  ...(outcome.origin !== undefined && { origin: outcome.origin }),
});

export const resultOf = (
  file: string,
  { readErrors }: FileContent,
  outcomes: readonly ItemOutcome[],
  instants: { read_at: string; finished_at: string },
) => ({
  file,
  ...instants,
  totals: totalsOf([...outcomes, ...unreadItems(readErrors)]),
  results: [...outcomes, ...unreadItems(readErrors)].map(fileOutcome),
  /** Read errors that belong to no item; integrators read this key since 0.1.0. */
  faults: readErrors
    .filter(({ externalCode }) => externalCode === undefined)
    .map(({ origin, reason }) => ({ origin, reason })),
});

function totalsOf(outcomes: readonly ItemOutcome[]) {
  const totals = { items: outcomes.length, confirmed: 0, partial: 0, rejected: 0, cancelled: 0 };
  for (const state of outcomes.map(reportedState)) if (state !== 'unknown') totals[state]++;
  return totals;
}

export type FileResult = ReturnType<typeof resultOf>;

/** The JSON of a result. */
export async function* resultText({ results, faults, ...result }: FileResult): AsyncIterable<string> {
  yield `${JSON.stringify(result, undefined, 2).slice(0, -2)},\n`;
  yield* listText('results', results);
  yield ',\n';
  yield* listText('faults', faults);
  yield '\n}\n';
}

async function* listText(name: string, entries: readonly object[]): AsyncIterable<string> {
  yield `  "${name}": [`;
  let isFirst = true;
  for (const some of chunks(entries, ITEMS_PER_TURN)) {
    await yieldToEventLoop();
    yield `${isFirst ? '' : ','}\n${some.map(indented).join(',\n')}`;
    isFirst = false;
  }
  yield isFirst ? ']' : '\n  ]';
}

const indented = (entry: object): string => `    ${JSON.stringify(entry, undefined, 2).replaceAll('\n', '\n    ')}`;

/** The places of the reasons of an item, by reason. */
export type IssuePlaces = (outcome: ItemOutcome) => ReadonlyMap<string, CellPlace> | undefined;

/**
 * The result as a table with one line for each reason. A text that a spreadsheet would run as a formula gets an apostrophe.
 */
export async function* resultTable(
  file: string,
  { items, readErrors }: FileContent,
  outcomes: readonly ItemOutcome[],
  { language, places }: { language: Language; places: IssuePlaces },
): AsyncIterable<string> {
  const line = (code: string, state: keyof (typeof STATE_WORDS)['pt'], reason: string, place: CellPlace = {}) => [
    String(place.row ?? ''),
    code,
    STATE_WORDS[language][state],
    reasonIn(language, reason),
    place.column ?? '',
    place.value ?? '',
  ];
  const linesOf = (outcome: ItemOutcome, i: number): string[][] => {
    const { externalCode, reasons = [], message, origin } = outcome;
    const isOther = origin !== undefined && !origin.startsWith(`${file} `);
    const notes = isOther ? [`sent as read at ${origin}`] : [];
    const texts = [...(reasons.length > 0 ? reasons : [message ?? '']), ...notes].filter((text) => text !== '');
    const known = reasons.length > 0 ? places(outcome) : undefined;
    const row = items[i]?.row;
    return (texts.length > 0 ? texts : ['']).map((text) =>
      line(externalCode, reportedState(outcome), text, known?.get(text) ?? (row === undefined ? {} : { row })),
    );
  };
  const unreadLine = ({ externalCode = '', reason, place }: ReadError) => line(externalCode, 'rejected', reason, place);
  const write = (rows: string[][], bom: boolean) => spreadsheetText(rows, language, { bom, escape_formulas: true });
  yield write([[...RESULT_HEADS[language]]], true);
  for (let at = 0; at < outcomes.length; at += ITEMS_PER_TURN) {
    await yieldToEventLoop();
    yield write(
      outcomes.slice(at, at + ITEMS_PER_TURN).flatMap((outcome, i) => linesOf(outcome, at + i)),
      false,
    );
  }
  for (const some of chunks(readErrors, ITEMS_PER_TURN)) {
    await yieldToEventLoop();
    yield write(some.map(unreadLine), false);
  }
}

/** As a spreadsheet of the language opens it: in Portuguese it expects semicolons. */
export async function spreadsheetText(rows: unknown[][], language: Language, options: Options): Promise<string> {
  // Loaded on first use: most feeds have no files.
  const { stringify } = await import('csv-stringify/sync');
  const delimiter = language === 'pt' ? ';' : ',';
  return stringify(rows, { bom: true, delimiter, record_delimiter: 'windows', ...options });
}

/** Items that could not be read are rejected, each with all its reasons. */
function unreadItems(readErrors: readonly ReadError[]): ItemOutcome[] {
  const named = readErrors.filter(({ externalCode }) => externalCode !== undefined);
  const byItem = Map.groupBy(named, ({ externalCode, startDay }) => JSON.stringify([externalCode, startDay]));
  return [...byItem.values()].map((own) => ({
    externalCode: own[0]?.externalCode ?? '',
    periodStart: null,
    state: 'rejected',
    remoteId: null,
    message: 'could not be read',
    reasons: own.map(({ origin, reason }) => `${origin}: ${reason}`),
  }));
}

/**
 * Appends the outcomes of items whose file is already finished, such as an identifier that the service returned late or a
 * manual retry: one line of JSON each. The lines are on disk when the promise resolves. If a crash cut off the last line, a
 * line break is written first.
 */
export async function appendLateResults(folder: string, outcomes: readonly ItemOutcome[], at: string): Promise<void> {
  if (outcomes.length === 0) return;
  await makeFolder(folder);
  const lines = outcomes.map((outcome) => `${JSON.stringify({ told_at: at, ...fileOutcome(outcome) })}\n`);
  const handle = await open(join(folder, 'late-results.jsonl'), 'a+');
  try {
    const { size } = await handle.stat();
    const last = await handle.read({ buffer: Buffer.alloc(1), position: Math.max(0, size - 1) });
    const isCutOff = last.bytesRead === 1 && last.buffer.toString() !== '\n';
    await handle.appendFile(`${isCutOff ? '\n' : ''}${lines.join('')}`);
    await handle.datasync();
    if (size === 0) await syncFolder(folder);
  } finally {
    await handle.close();
  }
}
