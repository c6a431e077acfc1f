// Ends a connection whose server has gone silent. How long a statement may take is not bounded: a merge, an index or an
// export of a large table is not hurried. But while one is under way without an end, the server is asked from time to
// time, on another connection, whether it still has the session; if it does not answer, or has not, the connection ends,
// and the statement fails like one of any lost session.
import type { PgConnection } from './postgres-connection.ts';

export interface SilenceWatch {
  /** How long a statement may take before the server is asked, and between two questions, ms. */
  askMs: number;
  /** Whether the server still has the session with this number; never throws. */
  hasSession(pid: number): Promise<boolean>;
}

/** `pid` is the server's number of the session; one that a pooler makes up would be known to nobody. */
export function endWhenSilent(connection: PgConnection, pid: number, { askMs, hasSession }: SilenceWatch) {
  let timer: NodeJS.Timeout | undefined;

  function rest(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  async function ask(): Promise<void> {
    const asked = timer;
    const isThere = await hasSession(pid);
    // It may have come to its end meanwhile, and another may have begun.
    if (timer !== asked) return;
    if (isThere) arm();
    else {
      rest();
      connection.end().catch(() => undefined);
    }
  }

  function arm(): void {
    timer = setTimeout(() => void ask(), askMs);
  }

  connection.on('drain', rest);
  connection.on('end', rest);
  return {
    begin(): void {
      if (timer === undefined) arm();
    },
  };
}
