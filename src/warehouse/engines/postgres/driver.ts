// The driver's connection, as far as the engine uses it beside knex.

/** The driver's own connection, as far as it is used. */
export interface PgConnection {
  query(config: object, callback?: Callback): unknown;
  end(): Promise<void>;
  /** `drain` when nothing is under way any more, `end` when it has ended. */
  on(event: 'drain' | 'end', listener: () => void): unknown;
  off(event: 'drain' | 'end', listener: () => void): unknown;
  /** knex's own mark: the pool gives the connection to nobody any more. */
  __knex__disposed?: unknown;
}

type Callback = (error: Error | null, result: PgResult) => void;

export interface PgResult {
  rowCount: number | null;
  rows: never[];
}
