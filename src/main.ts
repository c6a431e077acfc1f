// The command line's entry, for bin/roadbook.js.
import { main } from './cli/program.ts';

await main(process.argv);
