// The privacy register: every personal column of every table, with its policy, retention and copies.
import { expect, it } from 'vitest';
import { DATA_FIELDS, type FieldTable } from '../../../src/erp/items/fields.ts';
import { personalRegister } from '../../../src/warehouse/privacy/register.ts';
import { tables } from '../../../src/warehouse/schema/catalog.ts';

const settings = {
  policies: { 'driver.cpf': 'hash', 'driver.email': 'drop', 'route_point.name': 'keep', 'daily_summary.title': 'hash' },
  retention: { route_plan: '400d', sync_quarantine: '90d' },
  feeds: ['route_plans'],
  images: 'data/images',
  dropFolders: [
    {
      folder: 'data/drop/plans',
      kept: 'finished files 90d, late-results.jsonl and returns until the ERP removes them',
    },
  ],
} as const;
const register = personalRegister(settings);
const declared = tables.flatMap(({ name, columns }) =>
  columns.filter(({ personal }) => personal).map((column) => `${name}.${column.name}`),
);

it('has every column that is declared personal, undeclared fields, pictures and the files of the ERP', () => {
  expect(register.map(({ place }) => place)).toEqual([
    ...declared,
    'extra of every record',
    'coordinates, licence plates and names of signature files',
    'data/images',
    'data/drop/plans',
  ]);
});

it.each([
  ['driver.cpf', { policy: 'hash', kept: 'for ever', exports: ['driver'], in_outbox: true, in_quarantine: true }],
  ['driver.email', { policy: 'drop', kept: 'not stored', exports: [], in_quarantine: false }],
  // Rows of a stop are deleted with their plan, and the ERP's version of a stop waits in the outbox.
  [
    'route_point.name',
    { kept: '400d', exports: expect.arrayContaining(['bi_delivery', 'route_point']), in_outbox: true },
  ],
  // Revisions copy the title as it is stored.
  ['daily_summary_revision.title', { policy: 'hash', in_quarantine: false }],
  ['sync_quarantine.payload', { policy: null, kept: '90d', exports: [] }],
  ['extra of every record', { kept: 'for ever', exports: expect.arrayContaining(['event']), in_quarantine: true }],
  [
    'coordinates, licence plates and names of signature files',
    {
      exports: expect.arrayContaining(['checklist', 'event', 'route_point_execution', 'vehicle', 'bi_event']),
      policy: null,
      in_outbox: true,
    },
  ],
  [
    'data/drop/plans',
    { policy: null, kept: 'finished files 90d, late-results.jsonl and returns until the ERP removes them' },
  ],
  ['push_outbox.reasons', { policy: null, kept: expect.stringContaining('as long as the entry'), exports: [] }],
  ['push_attempt.message', { policy: null, kept: expect.stringContaining('as long as the entry'), exports: [] }],
  ['sync_quarantine.record_key', { policy: null, kept: '90d', exports: [] }],
  ['push_outbox.payload', { policy: null, kept: expect.stringContaining('until the item is confirmed') }],
])('says of %s what holds for it', (place, expected) => {
  expect(register.find((entry) => entry.place === place)).toMatchObject({ ...expected, in_logs: false });
});

/** The table whose columns are named as the fields of an object. */
const TABLES: Readonly<Record<string, string>> = {
  route_plans: 'route_plan',
  route_points: 'route_point',
  points_of_interest: 'point_of_interest',
  agents: 'driver',
  itineraries: 'itinerary',
};

function placesIn(name: string, { types, objects, lists }: FieldTable): string[] {
  const own = Object.entries(types).map(([field, type]) =>
    type === 'document' || type === 'documents' ? 'driver.cpf' : `${TABLES[name] ?? name}.${field}`,
  );
  return [...own, ...Object.entries({ ...objects, ...lists }).flatMap(([part, table]) => placesIn(part, table))];
}

it.each(Object.entries(DATA_FIELDS))(
  'says that what items of %s hold waits in the outbox, and nothing else',
  (feed, fields) => {
    const held = placesIn(feed, fields);
    const waiting = personalRegister({ ...settings, feeds: [feed] }).filter(({ in_outbox }) => in_outbox);
    expect(waiting.map(({ place }) => place).filter((place) => declared.includes(place))).toEqual(
      declared.filter((place) => held.includes(place)),
    );
  },
);
