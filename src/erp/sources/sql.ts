// The `sql` source: a query returns flat rows, and statements take the outcomes. The query decides which rows it returns.
// The engine recognises known items by code and content, so no row is marked as taken.
import { Fatal, Retriable, type RoadbookError, Skippable } from '../../core/errors.ts';
import { inBatches } from '../batches.ts';
import { reportedOutcome } from '../files/result.ts';
import { returnedStop } from '../files/returns.ts';
import type { ParsedItem } from '../items/item.ts';
import type { Mapping } from '../rows/mapping.ts';
import { readerOf, readTable, type TableRow } from '../rows/row-reader.ts';
import type { FeedFormats } from '../rows/written-values.ts';
import {
  type ErpSource,
  type ItemOutcome,
  NotifiedInPart,
  type SourceContext,
  type StopOutcome,
  type TriedStatement,
} from '../source.ts';
import type { SqlResult } from '../sql/client.ts';
import { type Database, type DatabaseSettings, openDatabase, type Session } from '../sql/database.ts';
import { isDeadlock, isTableMissing, sqlFailure } from '../sql/failure.ts';
import { BINDINGS, type Bindings, countsRows } from '../sql/statements.ts';

export interface SqlSettings extends DatabaseSettings, FeedFormats {
  source: 'sql';
  mapping: Mapping;
  query: string;
  acknowledge?: string | undefined;
  return?: string | undefined;
  /** A statement that changes no row counts as made. */
  acknowledgeMayChangeNothing?: boolean | undefined;
  returnMayChangeNothing?: boolean | undefined;
}

export function openSql(settings: SqlSettings, context: SourceContext): ErpSource {
  const { kind, zone, random } = context;
  const reader = readerOf(settings, context);
  const database = openDatabase(settings, zone);

  async function* readItems(signal?: AbortSignal): AsyncIterable<ParsedItem> {
    try {
      await using session = await database.open(signal);
      const result = await session.query(plainStatement(settings.query));
      yield* readTable({ header: result.header, rows: tableRows(result) }, kind, reader);
    } catch (error) {
      signal?.throwIfAborted();
      throw sqlFailure(error, 'query');
    }
  }

  return {
    read: (signal) => inBatches(kind, readItems(signal), reader),
    acknowledge: (outcomes) => runEach(database, settings, 'acknowledge', outcomes.map(outcomeBindings), random),
    ...(settings.return !== undefined && {
      returnExecutions: (stops) => runEach(database, settings, 'return', stops.map(stopBindings), random),
    }),
    tryStatements: (outcome, stop) =>
      tryEach(database, settings, { acknowledge: outcomeBindings(outcome), return: stopBindings(stop) }),
    async check() {
      let found = 'The query of the ERP works; it returns no rows at present.';
      for await (const parsed of readItems()) {
        found = checkItem(parsed);
        break;
      }
      await checkTables(database, settings);
      return found;
    },
    close: () => database.close(),
  };
}

/** Oracle rejects a semicolon at the end. A question mark may be escaped, as it must be in the other statements. */
const plainStatement = (query: string): string => query.replace(/;\s*$/, '').replaceAll('\\?', '?');

async function* tableRows({ header, batches }: SqlResult): AsyncIterable<TableRow> {
  let row = 0;
  for await (const batch of batches) {
    for (const values of batch) {
      row += 1;
      const cells: Record<string, unknown> = {};
      for (const [i, name] of header.entries()) cells[name] = plainCell(values[i]);
      yield { row, cells };
    }
  }
}

/** Drivers return instants as dates. */
function plainCell(cell: unknown): unknown {
  if (!(cell instanceof Date)) return cell;
  return Number.isNaN(cell.getTime()) ? null : cell.toISOString();
}

/** A statement that was rolled back because of a deadlock is repeated so often, without a wait. */
const MOST_DEADLOCKS = 5;
/** After so many statements in a row that met a lock or a time limit, the rest is left to the next run. */
const MOST_WAITS = 5;

/**
 * Runs the statement once for each entry. A failed entry does not stop the others; a database that cannot be reached, or that
 * opens no session, does: a login that is rejected for each entry would lock the account. After a wait for a lock the rest
 * follows in random order: otherwise rows that stay locked would make every run stop before the same entries.
 */
async function runEach(
  database: Database,
  settings: SqlSettings,
  setting: 'acknowledge' | 'return',
  all: readonly Bindings[],
  random: () => number,
): Promise<void> {
  const statement = settings[setting];
  if (statement === undefined || all.length === 0) return;
  const mustChange = settings[`${setting}MayChangeNothing`] !== true && countsRows(statement);
  const failures = new Map<number, RoadbookError>();
  const left = [...all.entries()];
  let session: Session | undefined;
  let hasWaited = false;
  let waits = 0;
  let outage: RoadbookError | undefined;
  while (left.length > 0) {
    const next = hasWaited ? Math.floor(random() * left.length) : 0;
    const [i, bindings] = left.splice(next, 1)[0] as [number, Bindings];
    try {
      if (outage !== undefined) throw outage;
      session ??= await database.open();
      const changed = await runPastDeadlocks(session, statement, bindings);
      // The final state follows an unknown one, and must change a row.
      if (changed === 0 && mustChange && bindings.state !== 'unknown') throw nothingChanged(setting);
      waits = 0;
    } catch (thrown) {
      const failure = sqlFailure(thrown, setting);
      failures.set(i, failure);
      if (session === undefined) outage = failure;
      if (!(failure instanceof Retriable)) continue;
      hasWaited = true;
      waits += 1;
      if (failure.code === 'erp_unreachable' || waits === MOST_WAITS) outage = failure;
      // The next statement gets a session that no unanswered statement occupies.
      await session?.[Symbol.asyncDispose]();
      session = undefined;
    }
  }
  await session?.[Symbol.asyncDispose]();
  if (failures.size > 0) throw new NotifiedInPart(failures);
}

async function runPastDeadlocks(session: Session, statement: string, bindings: Bindings): Promise<number | undefined> {
  for (let deadlocks = 1; ; deadlocks++) {
    try {
      return await session.run(statement, bindings);
    } catch (error) {
      if (!isDeadlock(error) || deadlocks === MOST_DEADLOCKS) throw error;
    }
  }
}

/** What begins a transaction in which a statement is tried, and a query of a table of the ERP that would keep its changes. */
const TRIALS: Readonly<Record<string, { begin: string; keeping?: string }>> = {
  pg: { begin: 'begin' },
  sqlite3: { begin: 'begin' },
  // Its prepared statements cannot begin a transaction, and some of its engines have none.
  mysql2: {
    begin: 'set autocommit = 0',
    keeping: `select table_name from information_schema.tables where table_schema = database()
      and engine in (select engine from information_schema.engines where coalesce(transactions, 'NO') <> 'YES') limit 1`,
  },
};

async function tryEach(
  database: Database,
  settings: SqlSettings,
  bindings: Readonly<Record<'acknowledge' | 'return', Bindings>>,
): Promise<TriedStatement[]> {
  const trial = TRIALS[settings.client];
  if (trial === undefined) throw unsafeTrial(`with the client ${settings.client}`);
  if (trial.keeping !== undefined) {
    const [kept] = await tryQuery(database, trial.keeping);
    if (kept !== undefined) throw unsafeTrial(`while there are tables without transactions, such as ${kept[0]}`);
    // A procedure can commit.
    const isPlain = [settings.acknowledge, settings.return].every((each = 'update') => countsRows(each));
    if (!isPlain) throw unsafeTrial('unless they are insert, update or delete');
  }
  const tried: TriedStatement[] = [];
  for (const setting of ['acknowledge', 'return'] as const) {
    const statement = settings[setting];
    if (statement === undefined) continue;
    await using session = await database.open();
    try {
      await session.run(trial.begin, {});
      tried.push({ statement: setting, rows: (await session.run(statement, bindings[setting])) ?? null });
      if (trial.keeping !== undefined && (await leavesTraces(session))) throw tracesLeft(setting);
    } catch (error) {
      if (error instanceof Fatal) throw error;
      const { message, hint } = sqlFailure(error, setting);
      tried.push({ statement: setting, rows: null, failure: `${message}. ${hint}` });
    } finally {
      // The end of the connection rolls back too.
      await session.run('rollback', {}).catch(() => undefined);
    }
  }
  return tried;
}

const unsafeTrial = (why: string): Fatal =>
  new Fatal(`Statements cannot be tried safely ${why}`, {
    code: 'usage',
    hint: 'Their changes might stay in the ERP; try them on a copy of the database instead.',
  });

/** MySQL's warning that changes of a table without transactions stay: of one that a trigger or a view hides. */
const NOT_ROLLED_BACK = 1196;

async function leavesTraces(session: Session): Promise<boolean> {
  await rowsOf(session, 'rollback');
  const warnings = await rowsOf(session, 'show warnings');
  return warnings.some(([, code]) => Number(code) === NOT_ROLLED_BACK);
}

const tracesLeft = (setting: string): Fatal =>
  new Fatal(`The database could not take back all changes of ${setting}`, {
    code: 'usage',
    hint: 'A trigger or view of the statement changes a table without transactions: look there for traces of this trial.',
  });

async function rowsOf(session: Session, query: string): Promise<(readonly unknown[])[]> {
  const rows = [];
  for await (const batch of (await session.query(query)).batches) rows.push(...batch);
  return rows;
}

async function tryQuery(database: Database, query: string): Promise<(readonly unknown[])[]> {
  await using session = await database.open();
  try {
    return await rowsOf(session, query);
  } catch (error) {
    throw sqlFailure(error, 'query');
  }
}

/**
 * Throws if a table of a statement is missing. Its values are null here, so no other error counts. The databases in which
 * statements are tried also explain one without running it, and store nothing for it.
 */
async function checkTables(database: Database, settings: SqlSettings): Promise<void> {
  if (TRIALS[settings.client] === undefined) return;
  for (const setting of ['acknowledge', 'return'] as const) {
    const statement = settings[setting] ?? '';
    if (!countsRows(statement)) continue;
    const bindings = Object.fromEntries(BINDINGS[setting].map((name) => [name, null]));
    try {
      await using session = await database.open();
      await session.run(`explain ${statement}`, bindings);
    } catch (error) {
      if (!isTableMissing(error)) continue;
      const { message, code, hint = '' } = sqlFailure(error, setting);
      throw new Skippable(message, { code, hint });
    }
  }
}

const nothingChanged = (setting: 'acknowledge' | 'return'): Skippable => {
  const [what, row] =
    setting === 'acknowledge'
      ? ['an item', ':external_code also when it has run before; npx roadbook outbox list shows the items']
      : ['a stop', ':plan_external_code and :point_external_code also when it has run before'];
  return new Skippable(
    `The statement of the feed found no row of the ERP for ${what} (${setting}), so the ERP doesn't know its outcome`,
    {
      code: 'erp_nothing_changed',
      hint: `Make its condition match the row of ${row}. If changing no row is right, set ${setting}_may_change_nothing of the feed.`,
    },
  );
};

function outcomeBindings(outcome: ItemOutcome): Bindings {
  const { reasons, ...bindings } = reportedOutcome(outcome);
  const message = [bindings.message, ...reasons].filter((part) => part !== null && part !== '').join('; ') || null;
  return { ...bindings, message };
}

const stopBindings = (stop: StopOutcome): Bindings => ({ ...returnedStop(stop), pictures: stop.pictures.join(' ') });

function checkItem(parsed: ParsedItem): string {
  if ('item' in parsed) return 'The query of the ERP works, and its first item can be read.';
  throw new Fatal(`The query of the ERP works, but its first rows cannot be read: ${parsed.readError.reason}`, {
    code: 'erp_rows_unreadable',
    hint: 'Use canonical paths as column names, or map the columns; docs/reference/erp-feeds.md shows both.',
  });
}
