// Runs a command in the process of the test, by the entry point of the real one: a test of a command's effects and
// output need not wait for a new process. Signals, pipes, log lines and memory are tested with a real process.
import { main } from '../../../src/cli/program.ts';
import type { Ended } from './workplace.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

let last: Promise<unknown> = Promise.resolve();

/** One after the other: they share the folder and the environment of the process. */
export function runHere(dir: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const run = last.then(() => runAlone(dir, args, env));
  last = run.catch(() => undefined);
  return run;
}

async function runAlone(dir: string, args: readonly string[], env: Record<string, string>): Promise<Ended> {
  const printed = { stdout: '', stderr: '' };
  const before = { env: process.env, folder: process.cwd(), exitCode: process.exitCode };
  const listeners = new Map(SIGNALS.map((signal) => [signal, new Set(process.listeners(signal))]));
  const restore = (['stdout', 'stderr'] as const).map((name) => {
    const stream = process[name];
    const { write } = stream;
    stream.write = (text: string | Uint8Array): boolean => {
      printed[name] += String(text);
      return true;
    };
    return () => Object.assign(stream, { write });
  });
  process.env = { PATH: before.env.PATH, TMPDIR: before.env.TMPDIR, NO_COLOR: '1', ...env };
  process.chdir(dir);
  try {
    await main(['node', 'roadbook', ...args]);
    return { code: Number(process.exitCode ?? 0), signal: null, ...printed };
  } finally {
    process.chdir(before.folder);
    process.env = before.env;
    process.exitCode = before.exitCode;
    for (const undo of restore) undo();
    for (const [signal, own] of listeners)
      for (const listener of process.listeners(signal)) if (!own.has(listener)) process.off(signal, listener);
  }
}
