// What an edit does to open connections: an account keeps its limiter, and a feed is reopened if the options it takes
// from its push job changed.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createConnections } from '../../../src/app/connections.ts';
import type { Config } from '../../../src/config/schema.ts';
import { createLog } from '../../../src/core/log.ts';
import { localPermits } from '../../../src/core/rate/rate.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';
import { drain, NOW, temporaryFolder } from '../../support/erp/erp-benches.ts';
import { parse } from './config-declarations.ts';

const itinerary = (day: string) => ({
  external_id: 'R7',
  vehicle_id: 1,
  driver_id: 2,
  date_time_start_estimated: `${day}T08:00`,
  date_time_end_estimated: `${day}T18:00`,
});

function connected(config: Config) {
  const clock = createManualClock(NOW);
  const redactor = createRedactor();
  const unused = async () => expect.unreachable();
  const connections = createConnections(config, {
    clock,
    redactor,
    log: createLog({ level: 'silent', redactor }),
    sandboxAddress: unused,
    sessionMemory: unused,
    permits: () => localPermits(clock),
  });
  return { clock, connections };
}

test('an account keeps its limiter over edits, with the newest limits', async () => {
  const { config } = parse('');
  const withService = (service: Partial<Config['service']>): Config => ({
    ...config,
    service: { ...config.service, requestsPerMinute: 6_000, ...service },
  });
  const { clock, connections } = connected(withService({ concurrency: 1 }));
  const { limiter } = connections.current();
  let running = 0;
  for (let n = 0; n < 9; n++) limiter.run(() => clock.sleep(10_000 * ++running)).catch(() => undefined);
  await clock.advance(1_000);
  expect(running).toBe(1);
  await connections.replace(withService({ concurrency: 3 }));
  await clock.advance(1_000);
  expect(connections.current().limiter).toBe(limiter);
  expect(running).toBe(3);
  await connections.close();
  await expect(limiter.run(async () => undefined)).rejects.toMatchObject({ code: 'closed' });
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
  const { clock, connections } = connected(config);
  const feed = () => connections.current().feeds.get('itineraries');
  const items = async (): Promise<number> => {
    const { source } = (await feed()?.open()) ?? expect.unreachable();
    return (await drain(source, clock)).flatMap(({ items }) => items).length;
  };

  expect(await items()).toBe(0);
  const before = feed();
  await connections.replace(withOptions({ settle: 120_000 }));
  expect(feed()).toBe(before);
  await connections.replace(withOptions({ reuse_codes: true }));
  expect(feed()).not.toBe(before);
  expect(await items()).toBe(2);
  await connections.replace(withOptions({ reuse_codes: false }));
  expect(await items()).toBe(0);
  await connections.close();
});
