// The `sql` source: a query returns flat rows, and statements take the outcomes. The query decides which rows it returns.
// The engine recognises known items by code and content, so no row is marked as taken.
import knex, { type Knex } from 'knex';
import { Fatal, Retriable, type RoadbookError } from '../../core/errors.ts';
import { inBatches } from '../batches.ts';
import { reportedOutcome } from '../files/result.ts';
import { returnedStop } from '../files/returns.ts';
import type { Reading } from '../items/item.ts';
import { type Mapping, prepareMapping } from '../rows/mapping.ts';
import { type ReaderContext, readTable, type TableRow } from '../rows/row-reader.ts';
import type { ErpSource, ItemOutcome, SourceContext, StopOutcome } from '../source.ts';
import { sqlFailure } from './sql-failure.ts';

export interface SqlSettings {
  source: 'sql';
  mapping: Mapping;
  /** A knex client: pg, mssql, mysql2, oracledb, sqlite3, … */
  client: string;
  connection: string | Record<string, unknown>;
  query: string;
  acknowledge?: string | undefined;
  return?: string | undefined;
}

const MOST_CONNECTIONS = 4;
const CONNECT_MS = 15_000;

type SqlRow = Record<string, unknown>;
type Bindings = Record<string, string | number | null>;

export function openSql(settings: SqlSettings, { kind, zone, reuseCodes }: SourceContext): ErpSource {
  const reader: ReaderContext = { kind, zone, reuseCodes, mapping: prepareMapping(kind, settings.mapping) };
  const database = connect(settings);

  async function* readings(signal?: AbortSignal): AsyncIterable<Reading> {
    const rows = queryRows(database, settings, signal);
    try {
      const first = await rows.next();
      if (first.done) return;
      yield* readTable({ header: Object.keys(first.value), rows: tableRows(first.value, rows) }, kind, reader);
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
      for await (const reading of readings()) return checkReading(reading);
      return 'The query of the ERP works; it returns no rows at present.';
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
      // Knex would print statements and values.
      log: { warn: silent, error: silent, deprecate: silent, debug: silent },
    });
  } catch (error) {
    throw sqlFailure(error, 'client');
  }
}

/** PostgreSQL's type numbers of `date` and `timestamp without time zone`. */
const WALL_CLOCK_TYPES = [1082, 1114];

interface PgConnection {
  setTypeParser?(type: number, format: 'text', parse: (text: string) => string): void;
}

/** Keeps times without a zone as text. pg would read them in this machine's zone, not in that of the configuration. */
function keepWallClocks(connection: PgConnection, done: (error: null, connection: PgConnection) => void): void {
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

/** Clients whose driver cannot stream. */
const WITHOUT_STREAMS: readonly string[] = ['sqlite3', 'better-sqlite3'];
const PAGE = 1_000;

/**
 * Streams the rows of a query in bounded memory. SQLite's driver returns a complete result, so the result is first stored
 * in a temporary table, which is read in pages. This also keeps the ERP's own tables locked only while the query itself runs.
 */
function sqlRows(database: Knex, client: string, query: string): AsyncIterable<SqlRow> {
  // Oracle rejects a semicolon at the end.
  const statement = query.replace(/;\s*$/, '');
  return WITHOUT_STREAMS.includes(client)
    ? pagedRows(database, statement)
    : (database.raw(statement).stream() as AsyncIterable<SqlRow>);
}

async function* pagedRows(database: Knex, statement: string): AsyncGenerator<SqlRow> {
  // Only its own connection can read a temporary table.
  const connection = await database.client.acquireConnection();
  const run = (text: string): Promise<SqlRow[]> => database.raw(text).connection(connection);
  try {
    await run('pragma temp_store = file');
    await run('drop table if exists temp.roadbook_feed');
    await run(`create temp table roadbook_feed as ${statement}`);
    for (let after = 0; ; after += PAGE) {
      const rows = await run(`select * from temp.roadbook_feed where rowid > ${after} order by rowid limit ${PAGE}`);
      yield* rows;
      if (rows.length < PAGE) return;
    }
  } finally {
    await run('drop table if exists temp.roadbook_feed').catch(() => undefined);
    await database.client.releaseConnection(connection);
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

/** Drivers return instants as dates and large numbers as bigints. */
function plainCells(row: SqlRow): SqlRow {
  const cells: SqlRow = {};
  for (const [name, cell] of Object.entries(row)) {
    if (cell instanceof Date) cells[name] = Number.isNaN(cell.getTime()) ? null : cell.toISOString();
    else cells[name] = typeof cell === 'bigint' ? String(cell) : cell;
  }
  return cells;
}

/** Runs the statement once for each entry. A rejected entry does not stop the others; an unreachable database does. */
async function runEach(
  database: Knex,
  name: string,
  statement: string | undefined,
  all: readonly Bindings[],
): Promise<void> {
  if (statement === undefined) return;
  let rejected: RoadbookError | undefined;
  for (const bindings of all) {
    try {
      await database.raw(separateCasts(statement, bindings), bindings as never);
    } catch (error) {
      const failure = sqlFailure(error, name);
      if (failure instanceof Retriable) throw failure;
      rejected ??= failure;
    }
  }
  if (rejected !== undefined) throw rejected;
}

/** In `:state::state` the second name is a type. Knex would bind a value there, so a space is inserted. */
const separateCasts = (statement: string, bindings: Bindings): string =>
  statement.replace(new RegExp(`::(?=(?:${Object.keys(bindings).join('|')})\\b)`, 'g'), ':: ');

function outcomeBindings(outcome: ItemOutcome): Bindings {
  const { reasons, ...bindings } = reportedOutcome(outcome);
  const message = [bindings.message, ...reasons].filter((part) => part !== null && part !== '').join('; ') || null;
  return { ...bindings, message };
}

const stopBindings = (stop: StopOutcome): Bindings => ({ ...returnedStop(stop), pictures: stop.pictures.join(' ') });

function checkReading(reading: Reading): string {
  if ('item' in reading) return 'The query of the ERP works, and its rows can be read.';
  throw new Fatal(`The query of the ERP works, but its rows cannot be read: ${reading.readError.reason}`, {
    code: 'erp_rows_unreadable',
    hint: 'Use canonical paths as column names, or map the columns; docs/reference/erp-feeds.md shows both.',
  });
}
