// roadbook erp check | template: reads a file or feed without sending, and writes sample files to start from.
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Command, Option } from 'commander';
import type { App } from '../app/app.ts';
import { makeFolder } from '../core/atomic-file.ts';
import { redactedJson } from '../core/text/redaction.ts';
import { type CheckReport, type CheckRequest, checkErp } from '../erp/check.ts';
import { FEED_KINDS, type FeedKind } from '../erp/feed-kinds.ts';
import { TEMPLATE_FORMATS, type TemplateFormat, template } from '../erp/template.ts';
import { pushJobOf } from '../sync/push/kind.ts';
import { addCommand, print, say, usageError, withApp } from './command.ts';
import { EXIT } from './output/exit-codes.ts';
import { textTable } from './output/text-table.ts';

interface CheckOptions {
  kind?: FeedKind;
  show?: string;
  tryStatements: boolean;
}

interface TemplateOptions {
  kind: FeedKind;
  format: TemplateFormat;
  language: 'pt' | 'en';
  out?: string;
}

const kindOption = (): Option => new Option('--kind <kind>', 'kind of item').choices(FEED_KINDS);

export function define(erp: Command): void {
  addCommand<CheckOptions>(erp, {
    usage: 'check [file]',
    summary: 'reads a file or the configured feed without sending: items, columns, reasons, a suggested mapping',
    options: (command) =>
      command
        .addOption(kindOption())
        .option('--show <code>', 'print one item as it would be sent; tax numbers are hidden')
        .option('--try-statements', 'run acknowledge and return of an SQL feed, and roll them back', false),
    action: withApp(async (app, [file], { json, kind, show, tryStatements }) => {
      const report = await checkFeed(app, { file, show, triesStatements: tryStatements, kind: kind ?? onlyKind(app) });
      const { redact } = app.redactor;
      if (json) print(redactedJson(report, redact, 2));
      else if (show === undefined) print(redact(reportText(report)));
      else {
        if (report.item !== undefined) print(redactedJson(report.item, redact, 2));
        if (report.issues.length > 0) say(redact([`${show} cannot be sent:`, ...issueLines(report)].join('\n')));
        for (const line of statementLines(report)) say(redact(line));
      }
      if (!json) say('Nothing was sent.');
      if (report.statements?.some(({ failure }) => failure !== undefined)) return EXIT.failed;
      if (show === undefined) return feedExitCode(report);
      // The issues are those of the shown item.
      return report.issues.length === 0 ? EXIT.ok : EXIT.failed;
    }),
  });
  addCommand<TemplateOptions>(erp, {
    usage: 'template',
    summary: 'writes a sample file with the columns of a kind and one example',
    options: (command) =>
      command
        .addOption(kindOption().default('route_plans'))
        .addOption(new Option('--format <format>', 'format of the file').choices(TEMPLATE_FORMATS).default('csv'))
        .addOption(new Option('--language <language>', 'language of the columns').choices(['pt', 'en']).default('pt'))
        .option('--out <file>', 'file to write (default: standard output)'),
    action: withApp(async (app, _args, { out, ...wanted }) => {
      const zone = app.loaded.config.timezone;
      const content = await template({ ...wanted, nowMs: app.clock.now(), zone });
      if (out !== undefined) await writeNew(out, content);
      if (wanted.json) {
        const encoding = wanted.format === 'xlsx' ? 'base64' : 'utf8';
        const what = out === undefined ? { encoding, content: content.toString(encoding) } : { file: out };
        print(JSON.stringify({ kind: wanted.kind, format: wanted.format, ...what }, null, 2));
      } else if (out !== undefined) say(`${out} was written. Try: npx roadbook erp check ${out} --kind ${wanted.kind}`);
      else if (wanted.format === 'xlsx' && process.stdout.isTTY)
        throw usageError('A workbook cannot be shown in a terminal', 'Add --out FILE.xlsx.');
      else process.stdout.write(content);
    }),
  });
}

export function feedExitCode({ items, rejected }: Pick<CheckReport, 'items' | 'rejected'>): number {
  if (rejected === 0) return EXIT.ok;
  return items > 0 ? EXIT.partial : EXIT.failed;
}

/** The file may be one that its owner has filled in. */
async function writeNew(file: string, content: Buffer): Promise<void> {
  await makeFolder(dirname(file));
  await writeFile(file, content, { flag: 'wx' }).catch((error) => {
    throw error.code === 'EEXIST' ? usageError(`${file} already exists`, 'name another file') : error;
  });
}

export function checkFeed(
  app: App,
  { kind, ...asked }: Omit<CheckRequest, 'settings' | 'context'> & { kind: FeedKind },
): Promise<CheckReport> {
  const { config } = app.loaded;
  const reuseCodes = config.jobs[pushJobOf(kind)]?.options.reuse_codes === true;
  const { clock, log } = app;
  const context = { kind, zone: config.timezone, reuseCodes, clock, log, random: Math.random };
  return checkErp({ settings: config.erp[kind], ...asked, context });
}

/** The kind of the only feed; route plans if there are several or none. */
function onlyKind({ loaded }: App): FeedKind {
  const [only = 'route_plans', ...others] = FEED_KINDS.filter((kind) => loaded.config.erp[kind] !== undefined);
  return others.length === 0 ? only : 'route_plans';
}

const SHOWN_ISSUES = 50;

export function reportText(report: CheckReport): string {
  const { kind, items, rejected, tables, issues, mapping } = report;
  const lines = tables.flatMap((table) => [tableTitle(table), ...columnLines(table), '']);
  lines.push(`${kind}: ${items} can be sent, ${rejected} cannot.`);
  if (items + rejected === 0) lines.push('The source has no items at present.');
  if (issues.length > 0) lines.push('', ...issueLines(report));
  lines.push(...statementLines(report));
  const suggested = Object.entries(mapping);
  if (suggested.length > 0)
    lines.push(
      '',
      'A mapping to start with:',
      '  mapping:',
      ...suggested.map(([path, column]) => `    ${path}: ${JSON.stringify(column)}`),
    );
  return lines.join('\n');
}

const rowCount = (rows: number | null): string => (rows === 1 ? '1 row' : `${rows ?? 'an unknown number of'} rows`);

const statementLines = ({ statements = [] }: CheckReport): string[] =>
  statements.map(({ statement, rows, failure }) =>
    failure === undefined
      ? `${statement}: would change ${rowCount(rows)}; rolled back.`
      : `${statement}: fails: ${failure}`,
  );

function issueLines({ issues }: CheckReport): string[] {
  const rows = issues
    .slice(0, SHOWN_ISSUES)
    .map((issue) => [issue.row ?? issue.origin, issue.code, issue.column, issue.value, issue.reason]);
  const table = textTable(['row', 'code', 'column', 'value', 'reason'], rows);
  const left = issues.length - SHOWN_ISSUES;
  return left > 0 ? [table, `${left} more; --json has up to 1,000.`] : [table];
}

function tableTitle({ name, rows, headerRow, encoding, delimiter, sheet }: CheckReport['tables'][number]): string {
  const facts = [
    headerRow === undefined ? undefined : `header in row ${headerRow}`,
    sheet === undefined ? undefined : `sheet ${sheet}`,
    encoding,
    delimiter === undefined ? undefined : `delimiter ${JSON.stringify(delimiter)}`,
  ].filter((fact) => fact !== undefined);
  return `${name}: ${rowCount(rows)}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`;
}

const columnLines = ({ columns }: CheckReport['tables'][number]): string[] =>
  columns.length === 0
    ? []
    : [
        textTable(
          ['column', 'read as', 'did you mean'],
          columns.map(({ column, paths, suggestion }) => [column, paths.join(', ') || 'not read', suggestion ?? '']),
        ),
      ];
