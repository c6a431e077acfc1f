#!/usr/bin/env -S node --max-semi-space-size=8
// The command line's entry. The compile cache comes first: it halves the time of every later start. The small
// young generation keeps a pull's garbage from growing the process: some 100 MB less for events.
import { enableCompileCache } from 'node:module';

enableCompileCache();
const { main } = await import('./cli/program.ts');
process.exitCode = await main(process.argv);
