// What `roadbook init` writes for databases that no test can start, and texts that YAML or .env could misread.
import { parseEnv } from 'node:util';
import { expect, it } from 'vitest';
import { DEFAULTS } from '../../../src/cli/init/questions.ts';
import { configText, tablesText } from '../../../src/cli/output/config-text.ts';
import { withVariables } from '../../../src/config/dotenv.ts';
import type { FeedSettings } from '../../../src/erp/sources.ts';
import { parse } from '../config/config-declarations.ts';

const feedOf = (change: Partial<typeof DEFAULTS>, mapping = {}): FeedSettings =>
  parse(configText({ ...DEFAULTS, ...change }, mapping), { ERP_DATABASE_URL: 'x' }).config.erp
    .route_plans as FeedSettings;

it.each([
  ['mssql', 'nvarchar(max)', /^merge .*;\n$/s],
  ['oracledb', 'varchar2(4000)', /^merge .*from dual.*\)\n$/s],
])('the statements for %s have its types, its form and only known values', (client, type, form) => {
  const feed = feedOf({ source: 'sql', client, query: 'select 1' });
  expect(feed).toMatchObject({
    client,
    acknowledge: expect.stringMatching(form),
    return: expect.stringMatching(form),
  });
  expect(tablesText(client)).toContain(type);
});

it('queries and columns are read back as they were given', () => {
  const query = `  select "a: b", '#' -- \${NAME}\n\n\tfrom t\n where x = 'é'`;
  const mapping = { 'plan.external_code': 'Nº: viagem', 'plan.date_time_start': { columns: ['#DATA', 'yes'] } };
  expect(feedOf({ source: 'sql', query }, mapping)).toMatchObject({ query, mapping });
  expect(feedOf({ source: 'http', url: 'https://erp.example.com/a' })).toMatchObject({ source: 'http', records: '' });
});

it('the order of the stops is kept if the feed has one', () => {
  const textOf = (isOrdered: boolean) => configText(DEFAULTS, {}, isOrdered);
  expect(parse(textOf(true)).config.erp.route_plans?.options).toEqual({ optimize: false });
  expect(parse(textOf(false)).config.erp.route_plans?.options).toEqual({});
  expect(textOf(false)).toMatch(/^ {4}# options: { optimize: false } /m);
});

it('variables are added to .env or replaced in it, whatever characters they have', () => {
  const before = '# note\nexport A = old\nB=2\n';
  for (const value of ['plain', 'a b#c', "it's", '"', '\'"', '\\n$x', '$&', ' x ']) {
    const text = withVariables(before, { A: value, C: value });
    expect(text).toMatch(/^# note\n/);
    expect({ ...parseEnv(text) }).toEqual({ A: value, B: '2', C: value });
  }
  expect(() => withVariables(before, { A: '\'"`' })).toThrow('.env cannot be changed');
});
