// npm run bench: the same events got in four ways, one after another in one run; the ratios are the figures.
//   npm run bench -- 1000000
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { loadStage } from './load-stage.ts';
import type { Measured } from './measured.ts';

const WAYS = ['parse', 'pull', 'again', 'script'] as const;
type Way = (typeof WAYS)[number];

const WORDS: Record<Way, string> = {
  parse: 'got and JSON.parse alone, nothing kept',
  pull: 'Roadbook, end to end, into an empty SQLite warehouse',
  again: 'Roadbook, the same events again: nothing changed',
  script: 'a script: got, JSON.parse, knex merge of 500 rows',
};

const wanted = Number(process.argv[2] ?? 1_000_000);
const VEHICLES = 500;
const PER_DAY = 200;
const days = Math.max(1, Math.round(wanted / (VEHICLES * PER_DAY)));
const DAY_MS = 86_400_000;
const end = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const period = { beginAt: new Date(end - days * DAY_MS).toISOString(), endAt: new Date(end).toISOString() };

const dir = mkdtempSync(join(tmpdir(), 'roadbook-bench-'));
const service = fork(resolve(import.meta.dirname, 'service.ts'), [String(VEHICLES), String(PER_DAY)]);
const [{ url, credentials }] = (await once(service, 'message')) as [{ url: string; credentials: object }];

const results = {} as Record<Way, Measured>;
for (const way of WAYS) {
  const task = JSON.stringify({ way, url, credentials, dir, ...period });
  const file = resolve(import.meta.dirname, 'measured.ts');
  const { stdout } = await promisify(execFile)(process.execPath, ['--max-semi-space-size=8', file, task], {
    maxBuffer: 1e8,
    env: { ...process.env, NODE_COMPILE_CACHE: join(dir, 'compiled') },
  });
  results[way] = JSON.parse(stdout) as Measured;
  process.stderr.write(`${way}: ${JSON.stringify(results[way])}\n`);
}
const bytes = statSync(join(dir, 'warehouse.db')).size;
service.disconnect();
rmSync(dir, { recursive: true, force: true });

const rate = (way: Way): number => results[way].rows / results[way].seconds;
const rows = WAYS.map((way) => {
  const { rows, seconds, peakMb } = results[way];
  const cells = [
    WORDS[way],
    rows.toLocaleString('en'),
    seconds.toFixed(1),
    Math.round(rate(way)).toLocaleString('en'),
  ];
  return `| ${[...cells, (rate(way) / rate('parse')).toFixed(2), peakMb.toFixed(0)].join(' | ')} |`;
});
const text = `# Performance

Written by \`npm run bench\`. One run, one machine (${cpus().length} cores), the service as a process beside it; the
ratios are the figures, the rates depend on the machine.

${results.pull.rows.toLocaleString('en')} events of ${VEHICLES} vehicles over ${days} days, 24 calls for each slice.

| way | events | seconds | events/s | ratio to parsing | peak RSS, MB |
|---|---|---|---|---|---|
${rows.join('\n')}

Roadbook is ${(rate('pull') / rate('script')).toFixed(1)} times as fast as the script. The warehouse takes
${Math.round(bytes / results.pull.rows)} bytes an event, indexes included.

${await loadStage(Math.min(wanted, 200_000))}`;
writeFileSync(resolve(import.meta.dirname, '../../docs/performance.md'), text);
process.stdout.write(text);
