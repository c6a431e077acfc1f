/** The members of the driver's connection that the engine uses besides knex. */
export interface PgConnection {
  query(config: { values?: readonly unknown[]; [member: string]: unknown }, callback?: Callback): unknown;
  end(): Promise<void>;
  /** `drain`: no statement is running any more. `end`: the connection has ended. */
  on(event: 'drain' | 'end', listener: () => void): unknown;
  off(event: 'drain' | 'end', listener: () => void): unknown;
  /** knex's own mark: the pool no longer hands out this connection. */
  __knex__disposed?: unknown;
}

type Callback = (error: Error | null, result: PgResult) => void;

export interface PgResult {
  rowCount: number | null;
  rows: never[];
}
