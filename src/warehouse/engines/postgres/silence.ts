// Ends a connection whose server has gone silent. How long a statement may take is not bounded: a merge, an index or an
// export of a large table is not hurried. But while one is under way without an end, the server is asked from time to
// time, on another connection, whether it works on it; if it does not answer, or does not, the connection ends, and the
// statement fails like one of any lost session. Others that were made over the same way are not used again.
import type { PgConnection } from './driver.ts';

export interface SilenceWatch {
  /** How long a statement may take before the server is asked, and between two questions, ms. */
  askMs: number;
  /** How long an answer may be on its way once the server has done its work, ms. */
  wayMs: number;
  /** Whether the server works for the session with this number; never throws. */
  works(pid: number): Promise<boolean>;
  /** All that are open. */
  connections: Set<PgConnection>;
}

/** `pid` is the server's number of the session; one that a pooler makes up would be known to nobody. */
export function endWhenSilent(
  connection: PgConnection,
  pid: number,
  { askMs, wayMs, works, connections }: SilenceWatch,
) {
  let timer: NodeJS.Timeout | undefined;

  function rest(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  const arm = (step: () => void, ms: number): void => {
    timer = setTimeout(step, ms);
  };

  async function ask(): Promise<void> {
    const asked = timer;
    const isAtWork = await works(pid);
    // It may have come to its end meanwhile, and another may have begun.
    if (timer !== asked) return;
    arm(...(isAtWork ? ([() => void ask(), askMs] as const) : ([giveUp, wayMs] as const)));
  }

  function giveUp(): void {
    rest();
    for (const each of connections) each.__knex__disposed ??= 'silent';
    connection.end().catch(() => undefined);
  }

  connections.add(connection);
  connection.on('drain', rest);
  connection.on('end', () => {
    rest();
    connections.delete(connection);
  });
  return {
    begin(): void {
      if (timer === undefined) arm(() => void ask(), askMs);
    },
  };
}
