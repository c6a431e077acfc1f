#!/usr/bin/env -S MALLOC_ARENA_MAX=1 node --max-semi-space-size=8 --heap-growing-percent=50 --expose-gc
// The command. JavaScript, and the compile cache comes first: what it holds is loaded without being parsed or stripped
// of its types, so node does not load its stripper, 18 MB that every process would keep. The small young generation and
// the slow growth of the heap keep a pull's garbage from growing the process: some 200 MB less. One arena for the memory
// of all threads, those of SQLite among them, is some 35 MB less again.
import { enableCompileCache } from 'node:module';

enableCompileCache();
await import('./main.ts');
