// `erp`: one feed for each kind of item that is pushed. The sources check the meaning of their settings;
// here stands which settings there are.
import { z } from 'zod';
import { durationOption } from '../../core/time/duration-option.ts';
import { section } from './section.ts';
import { webAddress } from './web-address.ts';

const flag = (meaning: string) => z.boolean().optional().describe(meaning);

const scalar = z.union([z.string(), z.number(), z.boolean()]);

const mappingRule = z
  .strictObject({
    column: z.string().min(1).optional().describe("The ERP's own column, exactly as it is named there."),
    value: scalar.optional().describe('A constant instead of a column.'),
    default: scalar.optional().describe('Stands in for an empty cell of the column.'),
    values: z.record(z.string(), scalar).optional().describe('What the words of the column mean.'),
  })
  .refine(({ column, value }) => (column === undefined) !== (value === undefined), {
    message: 'must have either `column` or `value`',
  })
  .refine(({ value, default: stand, values }) => value === undefined || (stand ?? values) === undefined, {
    message: 'must not have `default` or `values` beside `value`',
  });

const mapped = z
  .union([z.string().min(1), mappingRule])
  .meta({ examples: ['NUM_ENTREGA', '{ column: TIPO, default: Entrega }', '{ value: G }'] });

const shared = {
  mapping: z
    .record(z.string(), mapped)
    .default({})
    .describe("Canonical path to the ERP's own column, or to a constant (default none)."),
  options: z
    .strictObject({
      optimize: flag('The service orders the stops; false keeps the given order.'),
      geocoding: flag('Coordinates are obtained from the addresses.'),
      source: z.string().min(1).optional().describe('Source of the route calculation.'),
      has_time_window: flag('Time windows count in the optimisation.'),
      is_async: flag('The optimisation runs after the plan is created.'),
    })
    .default({})
    .describe('Defaults for the options of each plan (default: those of the service).'),
};

const files = z
  .strictObject({
    source: z.literal('files').describe('Where the feed comes from: files, sql or http.'),
    folder: z.string().min(1).describe('Folder into which the ERP drops its files.'),
    settle: durationOption('2s', 'How long a file must stay the same before it is read (default 2s).', {
      max: '1h',
    }),
    keep_files: durationOption('90d', 'How long finished files and their results are kept (default 90d).', {
      min: '1h',
    }),
    ...shared,
  })
  .transform(({ settle, keep_files, ...same }) => ({ ...same, settleMs: settle, keepFilesMs: keep_files }));

const sql = z.strictObject({
  source: z.literal('sql').describe('Where the feed comes from: files, sql or http.'),
  client: z.string().min(1).describe('The knex client, for example pg.'),
  connection: z
    .union([z.string().min(1), z.record(z.string(), z.unknown())])
    .describe("The client's connection: an address or its settings."),
  query: z.string().min(1).describe('Statement that gives the flat rows.'),
  acknowledge: z.string().min(1).optional().describe('Statement run when the state of an item is known.'),
  return: z.string().min(1).optional().describe('Statement run for each outcome of a stop.'),
  ...shared,
});

const http = z
  .strictObject({
    source: z.literal('http').describe('Where the feed comes from: files, sql or http.'),
    url: webAddress.describe('Address that gives the records.'),
    headers: z.record(z.string(), z.string()).default({}).describe('Headers of each request (default none).'),
    records: z
      .string()
      .default('')
      .describe('Dotted path to the list in the answer (default the answer itself).'),
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
).describe('Where route plans and other items to push come from; one feed a kind.');
