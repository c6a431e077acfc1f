// A child process that answers one request at a time. Its end is an answer too: whether it exited by itself, crashed, was
// killed from outside or could not be started, no request waits for ever, and none rejects.
import { type ChildProcess, type ForkOptions, fork, type Serializable } from 'node:child_process';

export type Child<Request, Response> = ReturnType<typeof startChild<Request, Response>>;

export function startChild<Request, Response>(
  path: string,
  args: string[],
  own?: Pick<ForkOptions, 'execArgv' | 'env'>,
) {
  const stdio: ForkOptions['stdio'] = ['ignore', 'ignore', 'ignore', 'ipc'];
  const ended = Promise.withResolvers<NodeJS.Signals | null>();
  // Not a race of each response against the end: the promise of the end would hold every response until then.
  let respond: ((response: Response | undefined) => void) | undefined;
  let hasEnded = false;
  function end(signal: NodeJS.Signals | null): void {
    hasEnded = true;
    respond?.(undefined);
    ended.resolve(signal);
  }
  let child: ChildProcess | undefined;
  try {
    child = fork(path, args, { execArgv: [], serialization: 'advanced', stdio, ...own });
  } catch {
    end(null);
  }
  child?.once('exit', (_code, signal) => end(signal));
  child?.on('error', () => end(null));
  child?.on('message', (response) => {
    respond?.(response as Response);
    respond = undefined;
  });
  return {
    /** Undefined if the process has ended. The request before must have been answered. */
    ask: (request: Request): Promise<Response | undefined> =>
      new Promise((resolve) => {
        if (hasEnded) return resolve(undefined);
        respond = resolve;
        // A request that cannot be sent finds a process whose end is about to be noticed.
        child?.send(request as Serializable, () => undefined);
      }),
    kill: () => void child?.kill('SIGKILL'),
    /** The signal that ended the process; null if it exited by itself or could not be started. */
    ended: ended.promise,
  };
}
