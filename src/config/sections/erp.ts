// `erp`: one feed for each kind of item to push. This file declares the settings; the sources check their meaning.
import { z } from 'zod';
import { durationOption } from '../../core/time/duration-option.ts';
import { section, webAddress } from './section.ts';

const flag = (meaning: string) => z.boolean().optional().describe(meaning);

const scalar = z.union([z.string(), z.number(), z.boolean()]);

const dateForm = z
  .string()
  .regex(/^(?=.*dd)(?=.*MM)(?=.*yy)(?:dd|MM|yyyy|yy|[/. -])+$/)
  .meta({ title: 'date format', examples: ['dd/MM/yyyy', 'MM/dd/yyyy', 'yyyyMMdd'] });

const mappingRule = z
  .strictObject({
    column: z.string().min(1).optional().describe('Column of the ERP, with its exact name.'),
    columns: z
      .array(z.string().min(1))
      .min(2)
      .optional()
      .describe('Several columns, whose cells are joined by a space: a date and its time.'),
    format: dateForm.optional().describe('Form of dates in the column, for example dd/MM/yyyy (default `dates`).'),
    value: scalar.optional().describe('A constant instead of a column.'),
    default: scalar.optional().describe('Replaces an empty cell of the column.'),
    values: z.record(z.string(), scalar).optional().describe('Meaning of each word of the column.'),
  })
  .refine(({ column, columns, value }) => [column, columns, value].filter((each) => each !== undefined).length === 1, {
    message: 'must have one of `column`, `columns` and `value`',
  })
  .refine(
    ({ value, default: other, values, format }) => value === undefined || (other ?? values ?? format) === undefined,
    {
      message: 'must not have `default`, `values` or `format` beside `value`',
    },
  );

const mapped = z.union([z.string().min(1), mappingRule]).meta({
  examples: ['NUM_ENTREGA', '{ column: TIPO, default: Entrega }', '{ columns: [DATA, HORA] }', '{ value: G }'],
});

const shared = {
  mapping: z
    .record(z.string(), mapped)
    .default({})
    .describe('Column of the ERP, or a constant, for each canonical path (default none).'),
  dates: dateForm
    .optional()
    .describe('Form of dates, for example dd/MM/yyyy (default: only dates that can mean one day are read).'),
  decimal: z
    .enum(['comma', 'point'])
    .optional()
    .describe('Decimal mark of numbers in texts (default: only numbers that can mean one value are read).'),
  options: z
    .strictObject({
      optimize: flag('The service optimizes the order of the stops; false keeps the order of the ERP.'),
      geocoding: flag('The service derives coordinates from the addresses.'),
      source: z.string().min(1).optional().describe('Source of the route calculation.'),
      has_time_window: flag('The optimisation respects time windows.'),
      is_async: flag('The optimisation runs after the plan is created.'),
    })
    .default({})
    .describe('Defaults for the options of each plan (default: those of the service).'),
};

const files = z
  .strictObject({
    source: z.literal('files').describe('Where the feed comes from: files, sql or http.'),
    folder: z.string().min(1).describe('Folder in which the ERP puts its files.'),
    settle: durationOption('2s', 'Time that a file must stay unchanged before it is read (default 2s).', {
      max: '1h',
    }),
    keep_files: durationOption('90d', 'Retention of finished files and their results (default 90d).', {
      min: '1h',
    }),
    language: z
      .enum(['pt', 'en'])
      .default('pt')
      .describe('Language of the result tables: pt (with semicolons) or en (with commas) (default pt).'),
    encoding: z
      .enum(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'iso-8859-1', 'ibm850'])
      .optional()
      .describe('Encoding of CSV and JSON files; ibm850 is CP850, of MS-DOS programs (default: found in the file).'),
    sheet: z
      .union([z.string().min(1), z.int().min(1)])
      .optional()
      .describe('Name or number of the sheet of a workbook (default the first).'),
    header_row: z
      .int()
      .min(1)
      .max(50)
      .optional()
      .describe(
        'Row with the names of the columns (default: the row of the first 50 with the most known names, at least two; else the first).',
      ),
    ...shared,
  })
  .transform(({ settle, keep_files, header_row, ...same }) => ({
    ...same,
    settleMs: settle,
    keepFilesMs: keep_files,
    headerRow: header_row,
  }));

const sql = z
  .strictObject({
    source: z.literal('sql').describe('Where the feed comes from: files, sql or http.'),
    client: z
      .enum(['pg', 'mysql2', 'mssql', 'oracledb', 'sqlite3'])
      .describe('The database: pg, mysql2 (also for MariaDB), mssql, oracledb or sqlite3.'),
    connection: z
      .union([z.string().min(1), z.record(z.string(), z.unknown())])
      .describe("The client's connection: an address or its settings."),
    query: z.string().min(1).describe('Statement that returns the flat rows.'),
    acknowledge: z.string().min(1).optional().describe('Statement run when the state of an item is known.'),
    return: z.string().min(1).optional().describe('Statement run for each outcome of a stop.'),
    timeout: durationOption('2m', 'Longest wait for a statement, and for the next rows of the query (default 2m).', {
      min: '1s',
      max: '1h',
    }),
    acknowledge_may_change_nothing: z
      .boolean()
      .default(false)
      .describe('An acknowledgement that changes no row counts as made (default false: it is repeated and reported).'),
    return_may_change_nothing: z
      .boolean()
      .default(false)
      .describe('A return that changes no row counts as made (default false: it is repeated and reported).'),
    ...shared,
  })
  .transform(({ timeout, acknowledge_may_change_nothing, return_may_change_nothing, ...same }) => ({
    ...same,
    timeoutMs: timeout,
    acknowledgeMayChangeNothing: acknowledge_may_change_nothing,
    returnMayChangeNothing: return_may_change_nothing,
  }));

const http = z
  .strictObject({
    source: z.literal('http').describe('Where the feed comes from: files, sql or http.'),
    url: webAddress.describe('Address that returns the records.'),
    headers: z.record(z.string(), z.string()).default({}).describe('Headers of each request (default none).'),
    records: z.string().default('').describe('Dotted path to the list in the answer (default the answer itself).'),
    acknowledge_url: webAddress.optional().describe('Address called when the state of an item is known.'),
    return_url: webAddress.optional().describe('Address called for each outcome of a stop.'),
    ...shared,
  })
  .transform(({ acknowledge_url, return_url, ...same }) => ({
    ...same,
    acknowledgeUrl: acknowledge_url,
    returnUrl: return_url,
  }));

const feed = z.discriminatedUnion('source', [files, sql, http]).meta({ id: 'feed' });

export type ErpFeed = z.output<typeof feed>;

export const erpSection = section(
  z.strictObject({
    route_plans: feed.optional().describe('Feed of route plans; without one, none are pushed.'),
    points_of_interest: feed.optional().describe('Feed of points of interest; without one, none are pushed.'),
    agents: feed.optional().describe('Feed of agents; without one, none are pushed.'),
    itineraries: feed.optional().describe('Feed of itineraries; without one, none are pushed.'),
  }),
).describe('Where route plans and other items to push come from; one feed for each kind.');
