// The two signals that end a long-running command: the first one drains, the second one ends at once.
import { say } from './command.ts';

/** Resolves at the first SIGINT or SIGTERM; a second one ends the process where it stands. */
export function untilSignal(): Promise<NodeJS.Signals> {
  // An order to reload that comes before anybody can obey it must not end the process.
  process.on('SIGHUP', () => undefined);
  return new Promise((resolve) => {
    const first = (signal: NodeJS.Signals) => {
      process.off('SIGINT', first).off('SIGTERM', first);
      process.on('SIGINT', atOnce).on('SIGTERM', atOnce);
      resolve(signal);
    };
    process.on('SIGINT', first).on('SIGTERM', first);
  });
}

/** Aborts at the first signal, for a command that ends by itself. */
export function abortOnSignal(): AbortSignal {
  const stop = new AbortController();
  void untilSignal().then(() => stop.abort());
  return stop.signal;
}

function atOnce(): void {
  say('Stopped at once.');
  process.exit(130);
}
