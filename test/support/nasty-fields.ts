// Dangerous texts in every text field of every kind of record, through the real jobs into the warehouse and out again
// as CSV: they come back to the byte, and no spreadsheet takes one for a formula.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { baseTables } from '../../src/warehouse/catalog.ts';
import { csv } from '../../src/warehouse/export/csv-format.ts';
import { exportTables } from '../../src/warehouse/export/export.ts';
import { exportables } from '../../src/warehouse/export/exportable.ts';
import { fillLocalTime } from '../../src/warehouse/local-time.ts';
import { recordColumns, type Table } from '../../src/warehouse/table.ts';
import { checklistAnswer } from '../../src/warehouse/tables/checklist-answer.ts';
import { routePlan } from '../../src/warehouse/tables/route-plan.ts';
import { routePoint } from '../../src/warehouse/tables/route-point.ts';
import { routePointExecution } from '../../src/warehouse/tables/route-point-execution.ts';
import { routePointItem } from '../../src/warehouse/tables/route-point-item.ts';
import { type DraftRecord, NASTY_TEXTS, SERIAL } from './fuzzed-records.ts';
import { FUZZ_KINDS, type FuzzKind, type FuzzPlace, takeStock } from './record-fuzz.ts';

/** The field of the record that no column holds, so that `extra` has one of each too. */
const NOTE = 'note';

const textColumns = (table: Table) =>
  recordColumns(table).filter(({ type, added }) => type === 'text' && !added);

const draft = (table: Table, text: string): DraftRecord => ({
  fields: textColumns(table).map(({ from }) => [from, text] as const),
  unknown: [[NOTE, text]],
  idForm: (id) => id,
});

const PLAN_LEVELS = [routePlan, routePoint, routePointExecution, routePointItem];

function tablesOf(kind: FuzzKind): Table[] {
  const own = baseTables.filter(({ name }) => name === kind.name);
  return own.length > 0 ? own : PLAN_LEVELS;
}

export interface NastyCounts {
  texts: number;
  /** As many as were sent. */
  records: number;
  fields: number;
  cells: number;
  /** Records that no row holds; each of them fits. */
  quarantined: number;
  /** In words, what came back otherwise. */
  wrong: string[];
  /** In words, cells that a spreadsheet would calculate. */
  formulas: string[];
}

/** Every kind once with every text; what SQL and the exported files then hold. */
export async function sendNastyTexts(place: FuzzPlace): Promise<NastyCounts> {
  for (const kind of FUZZ_KINDS) {
    const drafts = NASTY_TEXTS.flatMap((text) => tablesOf(kind).map((table) => draft(table, text)));
    await kind.send(place, drafts);
  }
  const stored = await storedTexts(place);
  const exported = await exportedCells(place);
  const counted = await takeStock(place);
  return {
    texts: NASTY_TEXTS.length,
    fields: stored.fields,
    cells: exported.cells,
    records: counted.sent,
    quarantined: counted.quarantined,
    wrong: stored.wrong,
    formulas: exported.wrong,
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

/** What makes a spreadsheet calculate. */
const FORMULA = /^[=+\-@\t\r＝＋－＠]/;

async function exportedCells({ rig }: FuzzPlace): Promise<{ cells: number; wrong: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'roadbook-nasty-'));
  try {
    await fillLocalTime(rig.engine, 'America/Sao_Paulo', rig.clock.now());
    await exportTables(rig.engine, {
      folder,
      format: csv,
      what: exportables,
      nowMs: rig.clock.now(),
      full: true,
      onProgress: () => undefined,
    });
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.csv'),
    );
    return files.map((name) => cellsOf(join(folder, name))).reduce(added, { cells: 0, wrong: [] });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const added = (a: { cells: number; wrong: string[] }, b: { cells: number; wrong: string[] }) => ({
  cells: a.cells + b.cells,
  wrong: [...a.wrong, ...b.wrong],
});

function cellsOf(path: string): { cells: number; wrong: string[] } {
  const table = exportables.find(({ name }) => `${name}.csv` === basename(path));
  const rows: Record<string, string>[] = parse(readFileSync(path), { columns: true, bom: true });
  let cells = 0;
  const wrong: string[] = [];
  for (const row of rows) {
    for (const { name, type } of table?.columns ?? []) {
      if (type !== 'text' && type !== 'json') continue;
      cells++;
      const value = row[name] ?? '';
      if (FORMULA.test(value)) wrong.push(`${table?.name}.csv ${name}: ${JSON.stringify(value)}`);
    }
  }
  return { cells, wrong };
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
