// The real code reads the examples of docs/reference/erp-feeds.md and the pages of files and HTTP, and the first uses the
// names of the field tables.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { FEED_KINDS } from '../../../src/erp/feed-kinds.ts';
import { csvTable } from '../../../src/erp/formats/csv-table.ts';
import { type FieldType, FLAT_COLUMNS } from '../../../src/erp/items/fields.ts';
import { itemOf } from '../../../src/erp/items/item.ts';
import { validateItem } from '../../../src/erp/items/schemas.ts';
import { columnNameTest } from '../../../src/erp/rows/column-names.ts';
import { type Mapping, prepareMapping } from '../../../src/erp/rows/mapping.ts';
import { readRecords, readTable } from '../../../src/erp/rows/row-reader.ts';
import type { FeedFormats } from '../../../src/erp/rows/written-values.ts';
import type { FeedSettings } from '../../../src/erp/sources.ts';
import { parse, rejection } from '../config/config-declarations.ts';

const DOCS = ['reference/erp-feeds.md', 'how-to/erp-files.md', 'how-to/erp-http.md']
  .map((name) => readFileSync(resolve(import.meta.dirname, '../../../docs', name), 'utf8'))
  .join('\n');
const examples = (language: string): string[] =>
  [...DOCS.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, text = '']) => text);
const context = { kind: 'route_plans', zone: 'America/Sao_Paulo' } as const;
const ENV = { ERP_DATABASE_URL: 'postgres://erp', ERP_TOKEN: 'token' };

const feedOf = (text: string): FeedSettings | undefined => parse(text, ENV).config.erp.route_plans;

/** The words of the page for a type whose own name says less. */
const WORDS: Partial<Record<FieldType, string>> = {
  integer: 'whole number',
  count: 'whole number from 0',
  boolean: 'true or false',
  moment: 'date-time',
  point_type: 'type of stop',
  document: 'tax number',
  documents: 'tax numbers',
};

describe('the examples', () => {
  test.each(examples('yaml').filter((text) => text.startsWith('erp:')))('%s is a valid feed', (text) => {
    const feed = feedOf(text);
    expect(() => prepareMapping('route_plans', feed?.mapping ?? {})).not.toThrow();
    expect(feed).toBeDefined();
  });

  test('of a mapping can be used', () => {
    const [text = ''] = examples('yaml').filter((example) => example.startsWith('mapping:'));
    const indented = text.replace(/^/gm, '    ');
    const { erp } = parse(`erp:\n  route_plans:\n    source: files\n    folder: x\n${indented}`).config;
    expect(prepareMapping('route_plans', erp.route_plans?.mapping ?? {}).renames).toHaveLength(4);
  });

  test('of a plan in JSON and in CSV are valid', async () => {
    const read = itemOf(JSON.parse(examples('json')[0] ?? ''), 'docs', context);
    if ('readError' in read) throw new Error(read.readError.reason);
    expect(validateItem('route_plans', read.item)).toEqual([]);
    const [plain = '', exported = ''] = examples('csv');
    const settings = feedOf(examples('yaml').find((text) => text.includes('columns: [DATA, SAIDA]')) ?? '');
    expect(await stopsIn(plain, {})).toEqual([['Store 12', 'Store 15']]);
    expect(await stopsIn(exported, settings?.mapping ?? {}, settings)).toEqual([['Loja 12', 'Loja 15']]);
  });

  /** The stops of each plan in the CSV; fails if one is not valid. */
  async function stopsIn(csv: string, rules: Mapping, { dates, decimal }: FeedFormats = {}) {
    async function* bytes() {
      yield Buffer.from(csv);
    }
    const mapping = prepareMapping('route_plans', rules);
    const header = { isName: columnNameTest('route_plans', mapping) };
    const reader = { ...context, reuseCodes: false, mapping, formats: { dates, decimal } };
    const stops: unknown[] = [];
    for await (const parsed of readTable(await csvTable(bytes(), { header }), 'docs', reader)) {
      if ('readError' in parsed) throw new Error(parsed.readError.reason);
      expect(validateItem('route_plans', parsed.item)).toEqual([]);
      stops.push((parsed.item.data.route_points as JsonObject[]).map(({ name }) => name));
    }
    return stops;
  }

  test('of an HTTP feed reads its answer', () => {
    const settings = feedOf(examples('yaml').find((text) => text.includes('source: http')) ?? '');
    const answer = JSON.parse(examples('json').find((text) => text.includes('"orders"')) ?? '');
    const mapping = prepareMapping('route_plans', settings?.mapping ?? {});
    const [parsed] = readRecords(answer.data.orders, 'docs', { ...context, reuseCodes: false, mapping });
    if (parsed === undefined || 'readError' in parsed) throw new Error('the example cannot be read');
    expect(validateItem('route_plans', parsed.item)).toEqual([]);
  });

  test.each(FEED_KINDS)('every field of %s is listed with its type', (kind) => {
    const title = kind.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase());
    const [, section = ''] = new RegExp(`\n### ${title}\n(.*?)\n##`, 's').exec(DOCS) ?? [];
    const listed = [...section.matchAll(/^\| `(.+?)` \| (.+?) \| (yes )?\|/gm)].map((row) => row.slice(1, 4));
    const { types, required } = FLAT_COLUMNS[kind];
    const declared = Object.entries(types).map(([path, type]) => [
      path,
      WORDS[type] ?? type.replaceAll('_', ' '),
      required.includes(path) ? 'yes ' : undefined,
    ]);
    expect(listed.sort()).toEqual(declared.sort());
  });
});

describe('a mapping in the configuration', () => {
  const feed = (mapping: string): string => `erp: { agents: { source: files, folder: x, mapping: ${mapping} } }`;

  test('is a column, or a rule with a column or a constant', () => {
    const { erp } = parse(
      feed('{ name: NOME, cpf: { column: DOC, default: x }, is_deliveryman: { value: true } }'),
    ).config;
    expect(erp.agents).toMatchObject({
      settleMs: 2_000,
      keepFilesMs: 90 * 86_400_000,
      mapping: { name: 'NOME', cpf: { column: 'DOC', default: 'x' }, is_deliveryman: { value: true } },
    });
  });

  test.each([
    '{ name: 7 }',
    '{ name: { colum: NOME } }',
    '{ name: {} }',
    '{ name: { column: NOME, value: x } }',
    '{ name: { value: x, default: y } }',
  ])('%s is rejected at its place', (mapping) => {
    expect(rejection(feed(mapping)).message).toContain('erp.agents.mapping.name');
  });
});
