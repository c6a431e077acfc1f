// The `sql` source: a query that gives flat rows, and statements that take the answers. Whether a row is new is
// the query's business; the engine knows what it has by code and content, so nothing is marked when it is taken.
import knex, { type Knex } from 'knex';
import { Fatal, Retriable, type RoadbookError } from '../../core/errors.ts';
import { inBatches } from '../batches.ts';
import type { Reading } from '../items/item.ts';
import { prepareMapping } from '../rows/mapping.ts';
import { type ReaderContext, readTable, type TableRow } from '../rows/row-reader.ts';
import type {
  ErpSource,
  Outcome,
  SharedSettings,
  SourceContext,
  SourceKind,
  StopOutcome,
} from '../source.ts';
import { sqlFailure } from './sql-failure.ts';
import { type SqlRow, sqlRows } from './sql-rows.ts';

export interface SqlSettings extends SharedSettings {
  source: 'sql';
  /** A knex client: pg, mssql, mysql2, oracledb, sqlite3, … */
  client: string;
  connection: string | Record<string, unknown>;
  query: string;
  acknowledge?: string | undefined;
  return?: string | undefined;
}

const MOST_CONNECTIONS = 4;
const CONNECT_MS = 15_000;

type Bindings = Record<string, string | number | null>;

export const sql: SourceKind<SqlSettings> = { open: openSql };

function openSql(settings: SqlSettings, { kind, zone, reuseCodes }: SourceContext): ErpSource {
  const reader: ReaderContext = { kind, zone, reuseCodes, mapping: prepareMapping(kind, settings.mapping) };
  const database = connect(settings);

  async function* readings(signal?: AbortSignal): AsyncIterable<Reading> {
    const rows = queryRows(database, settings, signal);
    try {
      const first = await rows.next();
      if (first.done) return;
      yield* readTable(
        { header: Object.keys(first.value), rows: tableRows(first.value, rows) },
        kind,
        reader,
      );
    } finally {
      await rows.return(undefined);
    }
  }

  return {
    read: (signal) => inBatches(kind, readings(signal), reader),
    async acknowledge(outcomes) {
      await runEach(database, 'acknowledge', settings.acknowledge, outcomes.map(outcomeBindings));
    },
    async returnExecutions(stops) {
      await runEach(database, 'return', settings.return, stops.map(stopBindings));
    },
    async check() {
      for await (const reading of readings()) return firstFound(reading);
      return 'The query of the ERP answers; it gives no rows now.';
    },
    close: () => database.destroy(),
  };
}

function connect({ client, connection }: SqlSettings): Knex {
  const silent = () => undefined;
  try {
    return knex({
      client,
      connection: connection as Knex.StaticConnectionConfig,
      pool: { min: 0, max: MOST_CONNECTIONS, afterCreate: keepWallClocks },
      acquireConnectionTimeout: CONNECT_MS,
      useNullAsDefault: true,
      // It would print statements and values.
      log: { warn: silent, error: silent, deprecate: silent, debug: silent },
    });
  } catch (error) {
    throw sqlFailure(error, 'client');
  }
}

/** PostgreSQL's numbers for `date` and `timestamp without time zone`. */
const WALL_CLOCK_TYPES = [1082, 1114];

interface PgConnection {
  setTypeParser?(type: number, format: 'text', parse: (text: string) => string): void;
}

/** pg would read a time without a zone in that of this machine; as text it is read in that of the configuration. */
function keepWallClocks(
  connection: PgConnection,
  done: (error: null, connection: PgConnection) => void,
): void {
  for (const type of WALL_CLOCK_TYPES) connection.setTypeParser?.(type, 'text', (text) => text);
  done(null, connection);
}

async function* queryRows(
  database: Knex,
  { client, query }: SqlSettings,
  signal?: AbortSignal,
): AsyncGenerator<SqlRow> {
  try {
    for await (const row of sqlRows(database, client, query)) {
      signal?.throwIfAborted();
      yield row;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw sqlFailure(error, 'query');
  }
}

async function* tableRows(first: SqlRow, rest: AsyncIterable<SqlRow>): AsyncIterable<TableRow> {
  let row = 1;
  yield { place: `row ${row}`, cells: plainCells(first) };
  for await (const cells of rest) {
    row += 1;
    yield { place: `row ${row}`, cells: plainCells(cells) };
  }
}

/** Drivers give instants as dates and large numbers as bigints. */
function plainCells(row: SqlRow): SqlRow {
  const cells: SqlRow = {};
  for (const [name, cell] of Object.entries(row)) {
    if (cell instanceof Date) cells[name] = Number.isNaN(cell.getTime()) ? null : cell.toISOString();
    else cells[name] = typeof cell === 'bigint' ? String(cell) : cell;
  }
  return cells;
}

/** One that is refused does not hold up the others; one that finds no database does. */
async function runEach(
  database: Knex,
  name: string,
  statement: string | undefined,
  all: readonly Bindings[],
): Promise<void> {
  if (statement === undefined) return;
  let refused: RoadbookError | undefined;
  for (const bindings of all) {
    try {
      await database.raw(castsApart(statement, bindings), bindings as never);
    } catch (error) {
      const failure = sqlFailure(error, name);
      if (failure instanceof Retriable) throw failure;
      refused ??= failure;
    }
  }
  if (refused !== undefined) throw refused;
}

/** `:state::state` casts to a type that is named as a value is; knex would put the value in its place. */
const castsApart = (statement: string, bindings: Bindings): string =>
  statement.replace(new RegExp(`::(?=(?:${Object.keys(bindings).join('|')})\\b)`, 'g'), ':: ');

const outcomeBindings = ({
  externalCode,
  periodStart,
  state,
  remoteId,
  message,
  reasons,
}: Outcome): Bindings => ({
  external_code: externalCode,
  period_start: periodStart,
  state,
  remote_id: remoteId,
  message: [message, ...(reasons ?? [])].filter((part) => part !== null && part !== '').join('; ') || null,
});

const stopBindings = (stop: StopOutcome): Bindings => ({
  plan_external_code: stop.planExternalCode,
  plan_period_start: stop.planPeriodStart,
  point_external_code: stop.pointExternalCode,
  status: stop.status,
  executed_at: stop.executedAt,
  reason: stop.reason,
  pictures: stop.pictures.join(' '),
});

function firstFound(reading: Reading): string {
  if ('item' in reading) return 'The query of the ERP answers, and its rows can be read.';
  throw new Fatal(`The query of the ERP answers, but its rows cannot be read: ${reading.fault.reason}`, {
    code: 'erp_rows_unreadable',
    hint: 'Name the columns by canonical paths, or map them; docs/reference/erp-feeds.md shows both.',
  });
}
