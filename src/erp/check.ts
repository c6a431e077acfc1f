// Reads a feed, or a file as the feed would read it, and reports what a push would do with it. Nothing is sent, moved or
// stored. Of the items only their codes stay in memory. The report has the ERP's own values: it is for the person who connects the ERP.
import { stat } from 'node:fs/promises';
import { basename, extname, join, resolve } from 'node:path';
import { Fatal } from '../core/errors.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import { isoInstant } from '../core/time/clock.ts';
import { inBatches } from './batches.ts';
import { FORMATS } from './files/drop-file.ts';
import { readFileInLimits } from './files/drop-file-reader.ts';
import { dropNames, unreadBatches, unreadNames } from './files/drop-folder.ts';
import { ifExists } from './files/gone.ts';
import { issuePlace } from './items/issue-places.ts';
import { startInstant } from './items/item.ts';
import { validateItem } from './items/schemas.ts';
import { suggestedPath } from './rows/column-names.ts';
import type { Mapping } from './rows/mapping.ts';
import { columnNames } from './rows/row-reader.ts';
import {
  type CellPlace,
  type ErpBatch,
  type ErpItem,
  type FoundHeader,
  invalidates,
  type SourceContext,
  type TriedStatement,
} from './source.ts';
import { fileContext } from './sources/files.ts';
import { type FeedSettings, openSource } from './sources.ts';

export interface CheckRequest {
  /** The feed in the configuration; a file can be checked without one. */
  settings: (FeedSettings & { options?: JsonObject }) | undefined;
  /** A file anywhere; absent: the feed. */
  file?: string | undefined;
  /** The code of an item to show. */
  show?: string | undefined;
  /** Tries the statements of an SQL feed with its first item. */
  triesStatements?: boolean;
  context: SourceContext;
}

export interface CheckedColumn {
  column: string;
  /** The paths that the column is read as; none if it is not read. */
  paths: string[];
  /** For a column that is not read. */
  suggestion: string | null;
}

export interface CheckedTable extends Partial<NonNullable<FoundHeader['place']>> {
  name: string;
  rows: number;
  columns: CheckedColumn[];
  issues: readonly string[];
}

export interface CheckIssue extends CellPlace {
  origin: string;
  code: string | null;
  reason: string;
}

export interface CheckReport {
  kind: string;
  /** Items that can be sent. */
  items: number;
  /** Items that cannot be sent. */
  rejected: number;
  tables: CheckedTable[];
  /** The first ones; with `show`, only those of its item. */
  issues: CheckIssue[];
  /** The columns that are probably meant, by path. */
  mapping: Record<string, string>;
  /** If the statements were tried. */
  statements?: TriedStatement[] | undefined;
  /** As it would be sent; absent if none was asked for, or if it cannot be read. */
  item?: { data: JsonObject; options: JsonObject };
}

const MOST_ISSUES = 1_000;

const usage = (message: string, hint: string): Fatal => new Fatal(message, { code: 'usage', hint });

export async function checkErp({ settings, file, show, triesStatements, context }: CheckRequest): Promise<CheckReport> {
  const { kind } = context;
  const headers: FoundHeader[] = [];
  const onHeader = (header: FoundHeader) => void headers.push(header);
  const report: CheckReport = { kind, items: 0, rejected: 0, tables: [], issues: [], mapping: {} };
  const rejected = new Set<string>();
  let first: ErpItem | undefined;
  for await (const batches of readSources({ settings, file, context: { ...context, onHeader } })) {
    let tally = emptyTally();
    for await (const batch of batches) {
      if (batch.part === 1) tally = emptyTally();
      addBatch(tally, batch, { kind, show, header: () => headers.at(-1) });
    }
    for (const days of tally.valid.values()) report.items += days.size;
    for (const code of tally.rejected) rejected.add(code);
    report.issues.push(...tally.issues.sort(byRow).slice(0, MOST_ISSUES - report.issues.length));
    first ??= tally.first;
    if (tally.shown !== undefined)
      report.item = { data: tally.shown.data, options: { ...settings?.options, ...tally.shown.options } };
  }
  report.rejected = rejected.size;
  report.tables = headers.map((header) => tableOf(header, context));
  report.mapping = suggestedMapping(report.tables, settings?.mapping ?? {});
  if (triesStatements) report.statements = await tryStatements(settings, context, first);
  if (show !== undefined && report.item === undefined && report.issues.length === 0) throw notFound(show, report);
  return report;
}

/** What was found so far in one file, query or answer. */
interface Tally {
  /** Start days of the items that can be sent, by code. */
  valid: Map<string, Set<string>>;
  rejected: Set<string>;
  /** The first ones. */
  issues: CheckIssue[];
  first?: ErpItem | undefined;
  /** The item that was asked for. */
  shown?: ErpItem | undefined;
}

/** Those of no row come last. */
const byRow = (a: CheckIssue, b: CheckIssue): number => (a.row ?? Infinity) - (b.row ?? Infinity) || 0;

const emptyTally = (): Tally => ({ valid: new Map(), rejected: new Set(), issues: [] });

interface Checked {
  kind: SourceContext['kind'];
  show: string | undefined;
  header(): FoundHeader | undefined;
}

/** A read error also invalidates items of its code from earlier batches. */
function addBatch(tally: Tally, { items, readErrors }: ErpBatch, { kind, show, header }: Checked): void {
  const { valid, rejected, issues } = tally;
  const note = (issue: CheckIssue): void => {
    if (issues.length < MOST_ISSUES && (show === undefined || issue.code === show)) issues.push(issue);
  };
  for (const item of items) {
    const { externalCode, startDay } = item;
    const reasons = validateItem(kind, item);
    for (const reason of reasons) note(issueOf(kind, item, reason, header()));
    if (reasons.length > 0) rejected.add(externalCode);
    else valid.set(externalCode, (valid.get(externalCode) ?? new Set()).add(startDay));
    tally.first ??= item;
    if (externalCode === show) tally.shown = item;
  }
  for (const readError of readErrors) {
    const { origin, externalCode, reason, place } = readError;
    rejected.add(externalCode ?? origin);
    note({ origin, code: externalCode ?? null, reason, ...place });
    const days = valid.get(externalCode ?? '');
    for (const day of days ?? []) if (invalidates(readError, day)) days?.delete(day);
    if (externalCode === show && invalidates(readError, tally.shown?.startDay ?? '')) tally.shown = undefined;
  }
}

/** With the code and start of the item and the code of its first stop, as after a delivery. */
async function tryStatements(settings: CheckRequest['settings'], context: SourceContext, item: ErpItem | undefined) {
  if (settings?.source !== 'sql') throw usage('Only an SQL feed has statements', 'Leave out --try-statements.');
  if (item === undefined) throw usage('The query returns no item to try the statements with', 'Let it return one.');
  const { externalCode, data } = item;
  const periodStart = startInstant(context.kind, data);
  const [point] = Array.isArray(data.route_points) ? data.route_points : [];
  const code = isJsonObject(point) ? point.external_code : undefined;
  const source = openSource(settings, context);
  try {
    return await source.tryStatements?.(
      { externalCode, periodStart, state: 'confirmed', remoteId: 0, message: null },
      {
        planExternalCode: externalCode,
        planPeriodStart: periodStart,
        pointExternalCode: typeof code === 'string' ? code : '',
        status: 'E',
        executedAt: isoInstant(context.clock.now()),
        reason: null,
        pictures: [],
      },
    );
  } finally {
    await source.close();
  }
}

/** Empty if no column is suggested. With a mapping labels are no longer read, so it has the columns that are read by label. */
function suggestedMapping(tables: readonly CheckedTable[], known: Mapping): Record<string, string> {
  const columns = tables.flatMap((table) => table.columns);
  if (!columns.some(({ suggestion }) => suggestion !== null)) return {};
  const mapping: Record<string, string> = {};
  for (const { column, paths, suggestion } of columns)
    for (const meant of suggestion === null ? paths : [suggestion])
      if (meant !== column && !Object.hasOwn(known, meant)) mapping[meant] ??= column;
  return mapping;
}

const issueOf = (kind: SourceContext['kind'], item: ErpItem, reason: string, header?: FoundHeader): CheckIssue => ({
  origin: item.origin,
  code: item.externalCode,
  reason,
  ...issuePlace(kind, item, reason, header === undefined ? (path) => path : columnNames(header)),
});

function tableOf(
  { name, header, reads, unread, issues, place, rows }: FoundHeader,
  { kind }: SourceContext,
): CheckedTable {
  const used = new Set(reads.map(({ path }) => path));
  const columns = header.map((column): CheckedColumn => {
    const paths = reads.flatMap(({ path, columns }) => (columns.includes(column) ? [path] : []));
    const meant = unread.includes(column) ? suggestedPath(kind, column) : undefined;
    return { column, paths, suggestion: meant === undefined || used.has(meant) ? null : meant };
  });
  return { name, rows, ...place, columns, issues };
}

/** The batches of each file, query or answer. */
async function* readSources({
  settings,
  file,
  context,
}: Omit<CheckRequest, 'show'>): AsyncIterable<AsyncIterable<ErpBatch>> {
  if (file !== undefined) {
    yield fileBatches(file, settings, context);
    return;
  }
  if (settings === undefined)
    throw usage(
      `The configuration has no feed of ${context.kind}`,
      'Name a file: npx roadbook erp check FILE; or add the feed to `erp`.',
    );
  if (settings.source !== 'files') {
    const source = openSource(settings, context);
    try {
      yield source.read();
    } finally {
      await source.close();
    }
    return;
  }
  for (const name of (await ifExists(dropNames(settings.folder))) ?? [])
    yield fileBatches(join(settings.folder, name), settings, context);
  for (const name of (await ifExists(unreadNames(settings.folder))) ?? []) yield unreadBatches(name, context);
}

async function* fileBatches(
  file: string,
  settings: CheckRequest['settings'],
  context: SourceContext,
): AsyncIterable<ErpBatch> {
  const [path, name] = [resolve(file), basename(file)];
  const found = await ifExists(stat(path));
  if (found === undefined) throw usage(`There is no file ${path}`, 'Check the path.');
  if (!found.isFile()) throw usage(`${path} is not a file`, 'Name a file; without one, the configured feed is read.');
  if (!FORMATS.includes(extname(name).toLowerCase()))
    throw usage(`${name} is not read: a feed reads ${FORMATS.join(', ')}`, 'Save it as .xlsx or .csv.');
  // A feed of another source has no settings of files, but its mapping and formats hold for its columns.
  const own = { folder: '', settleMs: 0, keepFilesMs: 0, mapping: {}, ...settings, source: 'files' as const };
  const reader = fileContext(own, context);
  yield* inBatches(name, readFileInLimits({ path, name, size: found.size }, reader), reader);
}

const notFound = (code: string, { items, rejected }: CheckReport): Fatal =>
  new Fatal(`No item with the code ${JSON.stringify(code)} can be read`, {
    code: 'usage',
    hint: `The source has ${items + rejected} items; without --show, the rejected ones are listed.`,
  });
