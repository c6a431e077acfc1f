// Reads feeds in a process of its own, whose time zone the caller sets: prints the start and the end of each plan as they
// would be sent, for each feed.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createLog } from '../../../src/core/log.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import type { SourceContext } from '../../../src/erp/source.ts';
import { type FeedSettings, openSource } from '../../../src/erp/sources.ts';

export interface ZonedFeed {
  zone: string;
  feed: FeedSettings;
}

/** By feed and code: start and end of the plan. */
export type ReadTimes = Record<string, [start: string, end: string]>[];

export async function readTimesIn(processZone: string, feeds: readonly ZonedFeed[]): Promise<ReadTimes> {
  const env = { ...process.env, TZ: processZone };
  const { stdout } = await promisify(execFile)(process.execPath, [import.meta.filename, JSON.stringify(feeds)], {
    env,
  });
  return JSON.parse(stdout) as ReadTimes;
}

/** Of a source that is read without a daemon. */
export const planContext = (zone: string): SourceContext => ({
  kind: 'route_plans',
  zone,
  reuseCodes: false,
  clock: systemClock,
  log: createLog({ level: 'silent', redactor: createRedactor() }),
  random: Math.random,
});

async function timesOf({ zone, feed }: ZonedFeed): Promise<ReadTimes[number]> {
  const source = openSource(feed, planContext(zone));
  const times: ReadTimes[number] = {};
  for await (const { items, readErrors } of source.read()) {
    if (readErrors.length > 0) throw new Error(JSON.stringify(readErrors[0]));
    for (const { externalCode, data } of items)
      times[externalCode] = [String(data.date_time_start), String(data.date_time_end)];
  }
  await source.close();
  return times;
}

if (process.argv[1] === import.meta.filename) {
  const feeds = JSON.parse(process.argv[2] ?? '[]') as ZonedFeed[];
  const read: ReadTimes = [];
  for (const feed of feeds) read.push(await timesOf(feed));
  process.stdout.write(JSON.stringify(read));
}
