// Dangerous texts in every text field of every kind of record, through the real jobs into the warehouse and out again
// as CSV and Parquet: they come back to the byte, and no spreadsheet takes one for a formula.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { recordColumns, type Table } from '../../../src/warehouse/schema/table.ts';
import { checklistAnswer } from '../../../src/warehouse/tables/checklist-answer.ts';
import { exportedCsv, exportedParquet } from './exported-texts.ts';
import { type DraftRecord, NASTY_TEXTS, SERIAL } from './fuzzed-records.ts';
import { FUZZ_KINDS, type FuzzKind, type FuzzPlace, takeStock } from './record-fuzz.ts';

/** The field of the record that no column holds, so that `extra` has one of each too. */
const NOTE = 'note';

const textColumns = (table: Table) => recordColumns(table).filter(({ type, added }) => type === 'text' && !added);

const draft = (table: Table, text: string): DraftRecord => ({
  fields: textColumns(table).map(({ from }) => [from, text] as const),
  unknown: [[NOTE, text]],
  idForm: (id) => id,
});

export interface NastyCounts {
  texts: number;
  /** As many as were sent. */
  records: number;
  fields: number;
  /** Texts in the files of an export. */
  csvCells: number;
  parquetCells: number;
  /** Records that no row holds; each of them fits. */
  quarantined: number;
  /** In words, texts that came back changed. */
  wrong: string[];
  /** In words, texts of an export that differ from the warehouse. */
  csvWrong: string[];
  parquetWrong: string[];
  /** In words, cells that a spreadsheet would calculate. */
  formulas: string[];
}

/** Sends every kind once with every text, and compares the rows and the exported files. */
export async function sendNastyTexts(place: FuzzPlace): Promise<NastyCounts> {
  for (const kind of FUZZ_KINDS) {
    const drafts = NASTY_TEXTS.flatMap((text) => kind.tables.map((table) => draft(table, text)));
    await kind.send(place, drafts);
  }
  const stored = await storedTexts(place);
  const asCsv = await exportedCsv(place.rig);
  const asParquet = await exportedParquet(place.rig);
  const counted = await takeStock(place);
  return {
    texts: NASTY_TEXTS.length,
    fields: stored.fields,
    csvCells: asCsv.cells,
    parquetCells: asParquet.cells,
    records: counted.sent,
    quarantined: counted.quarantined,
    wrong: stored.wrong,
    csvWrong: asCsv.wrong,
    parquetWrong: asParquet.wrong,
    formulas: asCsv.formulas,
  };
}

async function storedTexts({ rig, sent }: FuzzPlace): Promise<{ fields: number; wrong: string[] }> {
  const wrong: string[] = [];
  let fields = 0;
  for (const table of new Set([...sent.values()].map((each) => each.table))) {
    for (const row of await rig.rows(`select * from "${table.name}" where extra is not null`)) {
      const { [NOTE]: text, [SERIAL]: serial } = JSON.parse(String(row.extra));
      if (typeof serial !== 'number' || text === undefined) continue;
      const expected = sent.get(serial)?.record as Record<string, unknown>;
      if (text !== expected[NOTE]) wrong.push(`${table.name}.extra: ${JSON.stringify(text)}`);
      for (const { name } of textColumns(table)) {
        fields++;
        // The title of a daily summary has a number behind it, since rows are known by it.
        const isRight = row[name] === text || row[name] === `${expected.title}`;
        if (!isRight) wrong.push(`${table.name}.${name}: ${JSON.stringify(row[name])}`);
      }
    }
  }
  return { fields, wrong };
}

/** Names that lead out of a folder, to another host or to a device, where names become paths or addresses. */
export const PICTURE_NAMES = [
  '../../../escaped.png',
  '..\\..\\escaped.png',
  '/tmp/escaped.png',
  'C:\\escaped.png',
  'file:///etc/passwd',
  'http://127.0.0.1:9/escaped.png',
  'http://169.254.169.254/latest/meta-data/',
  '//127.0.0.1:9/escaped.png',
  '%2e%2e%2fescaped.png',
  'a&picture=../escaped.png#x',
  'con',
  'nul.png',
  'aux.png',
  '.',
  '..',
  '~/escaped.png',
  '$(touch escaped)',
  'nul\0byte.png',
  '\ud800.png',
  'x'.repeat(255),
  'x'.repeat(5_000),
] as const;

/** Answers whose pictures have these names; gives the files that were made, below `folder`. */
export async function sendPictureNames(place: FuzzPlace, folder: string): Promise<string[]> {
  const kind = FUZZ_KINDS.find(({ name }) => name === checklistAnswer.name) as FuzzKind;
  const drafts = PICTURE_NAMES.map(
    (name): DraftRecord => ({
      fields: [[['picture'], name]],
      unknown: [],
      idForm: (id) => id,
    }),
  );
  await kind.send(place, drafts);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}
