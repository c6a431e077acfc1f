// The last log lines of the latest runs, for the page of a run. In memory only, with a bounded number of runs, of lines for
// each run and of characters for each line. The full log goes to stderr.

export type LogTail = ReturnType<typeof createLogTail>;

const MAX_RUNS = 100;
const MAX_LINES = 200;
const MAX_LINE_LENGTH = 2_000;

export function createLogTail() {
  // A map keeps insertion order, so its first key is the oldest run.
  const runs = new Map<string, string[]>();
  return {
    /** Takes a finished, redacted line; ignores a line that belongs to no run. */
    keep(line: string): void {
      const runId = /"run_id":"([0-9a-f]+)"/.exec(line)?.[1];
      if (runId === undefined) return;
      const lines = runs.get(runId) ?? [];
      if (!runs.has(runId)) runs.set(runId, lines);
      lines.push(line.trimEnd().slice(0, MAX_LINE_LENGTH));
      if (lines.length > MAX_LINES) lines.shift();
      const [oldest] = runs.keys();
      if (runs.size > MAX_RUNS && oldest !== undefined) runs.delete(oldest);
    },
    /** Lines of a run, oldest first; empty if none are kept. */
    linesOf: (runId: string): readonly string[] => runs.get(runId) ?? [],
  };
}
