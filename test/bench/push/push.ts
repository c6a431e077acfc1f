// Plans a second of the real process, with the limiter off, beside a script that only posts them. The process searches for
// plans before it sends them, many with one call.

import type { Section } from '../task.ts';
import { CONCURRENCY, measurePush, type Pushed, pushSqlCost, SIDES } from './push-sides.ts';

export async function pushBench(plans: number): Promise<Section> {
  const script = await measurePush(SIDES.script, plans);
  const ours = await measurePush(SIDES.product, plans);
  const sql = await pushSqlCost(plans);
  const row = (way: string, { seconds, requests, cpuSeconds, peakMb }: Pushed): string =>
    `| ${way} | ${plans.toLocaleString('en')} | ${seconds.toFixed(1)} | ${(plans / seconds).toFixed(0)} | ${(script.seconds / seconds).toFixed(2)} | ${requests.toLocaleString('en')} | ${cpuSeconds.toFixed(1)} | ${peakMb} |`;
  return {
    title: 'Push',
    body: `Plans of ten points, the limiter off, ${CONCURRENCY} requests at one time, start of the process included, the warehouse made before.

| way | plans | seconds | plans/s | ratio to posting | requests | CPU, s | peak RSS, MB |
|---|---|---|---|---|---|---|---|
${row('got alone posts them, nothing kept', script)}
${row('Roadbook, files in the drop folder to confirmed plans', ours)}

A plan takes ${sql.statements.toFixed(2)} SQL statements and ${sql.commits.toFixed(3)} commits. A run with nothing to do spends ${sql.idleMs.toFixed(1)} ms in SQL on an outbox
with ${sql.confirmed.toLocaleString('en')} confirmed entries.`,
  };
}
