// What a feed takes from the options of its push job, and that an edit of them opens the feed anew.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Config } from '../../src/config/schema.ts';
import { createGenerations } from '../../src/connections.ts';
import { createLog } from '../../src/core/log.ts';
import { createManualClock } from '../../src/core/manual-clock.ts';
import { localPermits } from '../../src/core/rate/permits.ts';
import { createRedactor } from '../../src/core/redaction.ts';
import { drain, NOW, temporaryFolder } from '../conformance/erp-benches.ts';
import { parse } from './config-parts.ts';

const itinerary = (day: string) => ({
  external_id: 'R7',
  vehicle_id: 1,
  driver_id: 2,
  date_time_start_estimated: `${day}T08:00`,
  date_time_end_estimated: `${day}T18:00`,
});

test('codes are reused where the push job of the feed says so, from the next run after an edit', async () => {
  const folder = temporaryFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'a.json'), JSON.stringify(['2026-05-18', '2026-05-19'].map(itinerary)));
  const { config } = parse(`erp: { itineraries: { source: files, folder: ${folder} } }`);
  const withOptions = (options: Record<string, unknown>): Config => ({
    ...config,
    jobs: {
      ...config.jobs,
      'push-itineraries': { enabled: true, schedule: '* * * * *', timezone: config.timezone, options },
    },
  });
  const clock = createManualClock(NOW);
  const redactor = createRedactor();
  const unused = async () => expect.unreachable();
  const generations = createGenerations(config, {
    clock,
    redactor,
    log: createLog({ level: 'silent', redactor }),
    sandboxAddress: unused,
    sessionMemory: unused,
    permits: () => localPermits(clock),
  });
  const feed = () => generations.current().feeds.get('itineraries');
  const items = async (): Promise<number> => {
    const { source } = (await feed()?.open()) ?? expect.unreachable();
    return (await drain(source, clock)).flatMap(({ things }) => things).length;
  };

  expect(await items()).toBe(0);
  const before = feed();
  await generations.replace(withOptions({ settle: 120_000 }));
  expect(feed()).toBe(before);
  await generations.replace(withOptions({ reuse_codes: true }));
  expect(feed()).not.toBe(before);
  expect(await items()).toBe(2);
  await generations.replace(withOptions({ reuse_codes: false }));
  expect(await items()).toBe(0);
  await generations.close();
});
