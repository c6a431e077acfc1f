// Ends a connection whose server no longer answers. Statements have no timeout, because a merge, an index or an export of
// a large table may take long. Instead, while a statement runs, the engine asks the server from time to time, on another
// connection, whether it still works on it. If the server does not answer or no longer works on the statement, the
// connection ends and the statement fails as with any lost session. The pool then drops the other open connections too,
// because they share the same network path.
import type { PgConnection } from './driver.ts';

export interface SilenceWatch {
  /** Time before the first question and between two questions, ms. */
  askMs: number;
  /** How long an answer may travel once the server has finished the statement, ms. */
  answerMs: number;
  /** True if the server works on a statement of the session with this pid. Never throws. */
  isWorking(pid: number): Promise<boolean>;
  connections: Set<PgConnection>;
}

/**
 * Returns the function to call before each statement. `pid` is the server's own pid of the session, not one that a pooler
 * makes up.
 */
export function endWhenSilent(
  connection: PgConnection,
  pid: number,
  { askMs, answerMs, isWorking, connections }: SilenceWatch,
): () => void {
  let timer: NodeJS.Timeout | undefined;

  function disarm(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  async function ask(): Promise<void> {
    const asked = timer;
    const isAtWork = await isWorking(pid);
    // The statement may have ended meanwhile, and another may have begun.
    if (timer === asked) timer = isAtWork ? setTimeout(ask, askMs) : setTimeout(giveUp, answerMs);
  }

  function giveUp(): void {
    disarm();
    for (const each of connections) each.__knex__disposed ??= 'silent';
    connection.end().catch(() => undefined);
  }

  connections.add(connection);
  connection.on('drain', disarm);
  connection.on('end', () => {
    disarm();
    connections.delete(connection);
  });
  return () => {
    timer ??= setTimeout(ask, askMs);
  };
}
