// The command line, for src/roadbook.js.
import { main } from './cli/program.ts';

// A terminal or a pipe whose reader is gone: the work goes on without it.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
await main(process.argv);
// What still holds the process by then is a connection to a server that does not close it.
setTimeout(() => process.exit(), 5_000).unref();
