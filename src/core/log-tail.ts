// The last log lines of the latest runs, for people who look at a run. In memory and bounded: so many runs, so
// many lines of each, so many characters of a line. Gone with the process; the log itself is on stderr.

export interface LogTail {
  /** Takes a finished, redacted line; one that belongs to no run is let go. */
  keep(line: string): void;
  /** Lines of a run in order, oldest first; empty where nothing is kept of it. */
  linesOf(runId: string): readonly string[];
}

const RUNS = 100;
const LINES = 200;
const LONGEST_LINE = 2_000;

export function createLogTail(): LogTail {
  // A map keeps the order of its keys, so the first is the run that was heard of first.
  const runs = new Map<string, string[]>();
  return {
    keep(line) {
      const runId = /"run_id":"([0-9a-f]+)"/.exec(line)?.[1];
      if (runId === undefined) return;
      const lines = runs.get(runId) ?? [];
      if (!runs.has(runId)) runs.set(runId, lines);
      lines.push(line.trimEnd().slice(0, LONGEST_LINE));
      if (lines.length > LINES) lines.shift();
      const [oldest] = runs.keys();
      if (runs.size > RUNS && oldest !== undefined) runs.delete(oldest);
    },
    linesOf: (runId) => runs.get(runId) ?? [],
  };
}
