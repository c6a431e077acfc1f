// The dictionary is what a BI team reads first: everything in it has a description, and personal data is marked.
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { dbtSources } from '../../../src/cli/output/dbt-sources.ts';
import { tables } from '../../../src/warehouse/schema/catalog.ts';
import { dictionary } from '../../../src/warehouse/schema/dictionary.ts';
import { views } from '../../../src/warehouse/schema/view-catalog.ts';

const entries = dictionary();
const entry = (name: string) => entries.find((each) => each.name === name);
const columnsOf = (name: string) =>
  Object.fromEntries((entry(name)?.columns ?? []).map((column) => [column.name, column]));

describe('the dictionary', () => {
  it('has every table and every view of the contract', () => {
    const contract =
      'delivery route_plan vehicle_day driver_day event event_day day_status checklist_answer push freshness calendar verification missing_proof';
    expect(views.map(({ name }) => name)).toEqual(
      contract
        .split(' ')
        .map((name) => `bi_${name}`)
        .sort(),
    );
    expect(entries.map(({ name }) => name)).toEqual([...views, ...tables].map(({ name }) => name));
  });

  it('gives every table, view and column a meaning in a sentence', () => {
    const sentence = /^\S.{3,}\.$/s;
    for (const { name, meaning, columns } of entries) {
      expect(meaning, name).toMatch(sentence);
      for (const column of columns) expect(column.meaning, `${name}.${column.name}`).toMatch(sentence);
    }
  });

  it('names the unit of every quantity, or says that the service does not', () => {
    const quantity =
      /distance|speed|duration|hodometer|hourimeter|temperature|fuel|weight|volume|radius|latitude|longitude|capacity|quantity|_time|rpm|seconds|metres|hours|bytes|value/;
    const noQuantity = /^count|_(?:count|on_time|id)$/;
    const unit =
      /degrees|metres|seconds|hours|bytes|revolutions per minute|unit of the figure|(?:unit|currency) not stated by the service/i;
    const named = entries.flatMap(({ name, columns }) =>
      columns
        .filter(({ name: column, type }) => ['integer', 'real'].includes(type) && quantity.test(column))
        .filter(({ name: column }) => !noQuantity.test(column))
        .map(({ name: column, meaning }) => ({ column: `${name}.${column}`, meaning })),
    );
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter(({ meaning }) => !unit.test(meaning))).toEqual([]);
  });

  it('names the call and the field of each column that the service sends, and neither for other columns', () => {
    expect(entry('event')?.call).toBe('GET /event/');
    expect(columnsOf('event').vehicle_id?.source).toBe('vehicle.id');
    expect(columnsOf('event')._changed_at?.source).toBeNull();
    expect(columnsOf('route_point_execution').return_date?.source).toBe('route_points.routes_info.return_date');
    expect(columnsOf('route_point_execution').route_point_id?.source).toBeNull();
    expect(columnsOf('daily_summary').day?.source).toBeNull();
    expect(columnsOf('sync_run').job?.source).toBeNull();
  });

  it('traces a column of a view to its source, with its privacy', () => {
    expect(columnsOf('bi_delivery').stop_name).toMatchObject({
      source: 'route_point.name',
      is_personal: true,
    });
    expect(columnsOf('bi_delivery').given_order).toMatchObject({
      source: 'route_point.order',
      is_personal: false,
    });
    expect(columnsOf('bi_delivery').late_by_seconds?.source).toBeNull();
    for (const { name, columns } of entries) {
      for (const column of columns.filter(
        ({ source }) => source?.match(/^[a-z_]+\.[a-z_]+$/) && entry(name)?.kind === 'view',
      )) {
        const [table = '', field = ''] = column.source?.split('.') ?? [];
        expect(column.is_personal, `${name}.${column.name}`).toBe(columnsOf(table)[field]?.is_personal);
      }
    }
  });

  it('is a dbt source, with tests of the keys and personal columns marked', () => {
    const document = parse(dbtSources());
    expect(document.version).toBe(2);
    const [source] = document.sources;
    const names: string[] = source.tables.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['bi_delivery', 'event', 'route_plan_status', 'status_change']));
    // The role of BI may not read these.
    expect(names.filter((name) => /^(sync|push)_/.test(name))).toEqual([]);
    const find = (table: string, column: string) =>
      source.tables
        .find(({ name }: { name: string }) => name === table)
        .columns.find(({ name }: { name: string }) => name === column);
    expect(find('vehicle', 'id')).toMatchObject({ data_type: 'bigint', data_tests: ['not_null', 'unique'] });
    expect(find('event', 'id')).toMatchObject({ data_tests: ['not_null'] });
    // dbt takes the maximum over the rows: a table that is read often must not hide one that is not read at all.
    const checked = source.tables.filter((table: object) => 'freshness' in table);
    expect(checked).toContainEqual(
      expect.objectContaining({
        identifier: 'bi_freshness',
        loaded_at_field: 'last_read_at',
        freshness: expect.objectContaining({ filter: "table_name = 'event'" }),
      }),
    );
    expect(checked.every(({ freshness }: { freshness: object }) => 'filter' in freshness)).toBe(true);
    expect(find('driver', 'cpf')).toMatchObject({ meta: { source: 'cpf', personal: true } });
  });
});
