// The command line, for src/roadbook.js.
import { main } from './cli/program.ts';

await main(process.argv);
// What still holds the process by then is a connection to a server that does not even say goodbye.
setTimeout(() => process.exit(), 5_000).unref();
