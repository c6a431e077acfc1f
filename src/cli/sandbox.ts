// roadbook sandbox: only the simulated service, to try an ERP integration.
import { type Command, InvalidArgumentError } from 'commander';
import { parseFaultFlag } from '../sandbox/faults/faults.ts';
import { type Fault, startSandbox } from '../sandbox/sandbox.ts';
import { defineCommand, print, say, usageError } from './command.ts';
import { wholeNumberFrom } from './number-options.ts';
import { untilSignal } from './signals.ts';

interface SandboxFlags {
  host: string;
  port: number;
  seed: number;
  vehicles: number;
  speed: number;
  state?: string;
  fault: Fault[];
}

export const define = (command: Command): Command =>
  defineCommand<SandboxFlags>(command, {
    options: (command) =>
      command
        .option('--host <address>', 'address to listen on', '127.0.0.1')
        .option('--port <port>', 'port to listen on; 0 selects a free one', wholeNumberFrom(0, 65_535), 4781)
        .option('--seed <n>', 'seed of the simulated fleet; the same seed gives the same fleet', wholeNumberFrom(0), 1)
        .option('--vehicles <n>', 'approximate size of the fleet', wholeNumberFrom(0), 12)
        .option('--speed <n>', 'simulated seconds per real second', wholeNumberFrom(0), 1)
        .option('--state <file>', 'keep accepted writes in this file across restarts')
        .option('--fault <fault>', 'make calls fail, for example events:429:rate=0.1; may be repeated', faultFlags, []),
    action: async (_args, { host, port, seed, vehicles, speed, state, fault, json }) => {
      const options = { host, port, seed, vehicles, speed, stateFile: state, faults: fault };
      const { url, credentials, close } = await startSandbox(options).catch((thrown) => {
        throw listenError(thrown, options);
      });
      if (json) print(JSON.stringify({ url, credentials }));
      else print(welcome(url, credentials));
      await untilSignal();
      await close();
      say('Sandbox stopped.');
    },
  });

function listenError(thrown: NodeJS.ErrnoException, { host, port }: { host: string; port: number }): unknown {
  if (thrown.syscall !== 'listen' && thrown.syscall !== 'getaddrinfo') return thrown;
  if (thrown.code === 'EADDRINUSE')
    return usageError(`Port ${port} of ${host} is taken`, 'Choose another with --port; 0 selects a free one.');
  return usageError(
    `The sandbox cannot listen on ${host}, port ${port} (${thrown.code})`,
    'Choose another address or port with --host and --port.',
  );
}

const welcome = (url: string, credentials: object): string =>
  `Sandbox of the service at ${url}
${Object.entries(credentials)
  .map(([name, value]) => `  ${name}: ${value}`)
  .join('\n')}
Try:
  TOKEN=$(curl -s ${url}/auth/login/ -H 'content-type: application/json' -d '${JSON.stringify(credentials)}' | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  curl -s "${url}/vehicle/?includes=fleet" -H "authorization: Bearer $TOKEN"
Ledger of all calls: ${url}/_sandbox/ledger
Ctrl-C stops it.`;

function faultFlags(text: string, others: Fault[]): Fault[] {
  try {
    return [...others, parseFaultFlag(text)];
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}
