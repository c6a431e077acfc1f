// The signals that end a long-running command: the first one drains, a second one ends at once. A terminal that is
// closed sends SIGHUP, often more than once: it drains too, and never ends at once.
import { closeSync, openSync } from 'node:fs';
import { say } from './command.ts';

/** Whether a SIGHUP ends the command, or may be an order for something else while its terminal is there. */
export type HangUp = 'ends' | 'ends-with-terminal';

/** Resolves at the first signal that ends the command; a second SIGINT or SIGTERM ends the process where it stands. */
export function untilSignal(hangUp: HangUp = 'ends'): Promise<NodeJS.Signals> {
  const hadTerminal = hasTerminal();
  return new Promise((resolve) => {
    const first = (signal: NodeJS.Signals) => {
      process.off('SIGINT', first).off('SIGTERM', first);
      process.on('SIGINT', atOnce).on('SIGTERM', atOnce);
      resolve(signal);
    };
    process.on('SIGINT', first).on('SIGTERM', first);
    // Never taken off: without a listener the signal would end a process that is draining.
    process.on('SIGHUP', () => {
      if (hangUp === 'ends' || (hadTerminal && !hasTerminal())) first('SIGHUP');
    });
  });
}

/** Aborts at the first signal, for a command that ends by itself. */
export function abortOnSignal(): AbortSignal {
  const stop = new AbortController();
  void untilSignal().then(() => stop.abort());
  return stop.signal;
}

/** Whether there is a terminal that the process was started from and that is still open. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

function atOnce(): void {
  say('Stopped at once.');
  process.exit(130);
}
