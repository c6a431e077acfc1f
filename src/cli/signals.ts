// Signals that end a long-running command: the first one drains, a second one stops at once. A closed terminal sends SIGHUP,
// often more than once, so SIGHUP only drains and never stops at once.
import { closeSync, openSync } from 'node:fs';
import { say } from './command.ts';

/** Whether every SIGHUP ends the command, or only one from a closed terminal (any other may mean "reload"). */
export type HangUp = 'ends' | 'ends-with-terminal';

/** Resolves at the first signal that ends the command; a second SIGINT or SIGTERM exits at once. */
export function untilSignal(hangUp: HangUp = 'ends'): Promise<NodeJS.Signals> {
  const hadTerminal = hasTerminal();
  return new Promise((resolve) => {
    const onFirst = (signal: NodeJS.Signals) => {
      process.off('SIGINT', onFirst).off('SIGTERM', onFirst);
      process.on('SIGINT', exitAtOnce).on('SIGTERM', exitAtOnce);
      resolve(signal);
    };
    process.on('SIGINT', onFirst).on('SIGTERM', onFirst);
    // The listener stays: without one, the signal would kill a process that is draining.
    process.on('SIGHUP', () => {
      if (hangUp === 'ends' || (hadTerminal && !hasTerminal())) onFirst('SIGHUP');
    });
  });
}

/** Aborts at the first signal, for a command that also ends without one. */
export function abortOnSignal(): AbortSignal {
  const stop = new AbortController();
  void untilSignal().then(() => stop.abort());
  return stop.signal;
}

/** Whether the controlling terminal of the process is open. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

function exitAtOnce(): void {
  say('Stopped at once.');
  process.exit(130);
}
