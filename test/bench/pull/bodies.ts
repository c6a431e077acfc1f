// The requests that the product makes, sent by got alone, the bodies parsed by JSON.parse.
import got from 'got';
import type { Task } from '../task.ts';
import { CONCURRENCY } from './product.ts';

export type WireEvent = Record<string, Record<string, unknown> | undefined>;

/** `keep` gets each parsed body; returns the number of events. */
export async function readAll(task: Task, keep: (events: WireEvent[]) => Promise<void>): Promise<number> {
  const login = await got.post(`${task.url}/auth/login/`, { json: task.credentials }).json<{ access_token: string }>();
  const headers = { authorization: `Bearer ${login.access_token}` };
  const { data } = await got(`${task.url}/vehicle/?includes=fleet&visible=2`, { headers }).json<{
    data: { id: number }[];
  }>();
  const requests = eventRequests(
    task,
    data.map(({ id }) => id),
  );
  let count = 0;
  const worker = async () => {
    for (let next = requests.shift(); next !== undefined; next = requests.shift()) {
      const { body } = await got(`${task.url}/event/?${next}`, { headers, retry: { limit: 0 } });
      const events = JSON.parse(body);
      count += events.length;
      await keep(events);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return count;
}

const DAY_MS = 86_400_000;
const CATEGORIES = [...Array(14).keys()].map((n) => n + 1).concat([22, 23, 24, 25, 26, 27, 28, 29, 30, 31]);

/** A hundred vehicles and one day a call, every category. */
function eventRequests({ beginAt, endAt }: Task, vehicles: number[]): string[] {
  const requests: string[] = [];
  const last = Date.parse(endAt);
  for (let begin = Date.parse(beginAt); begin < last; begin += DAY_MS) {
    const periods = [
      {
        begin: new Date(begin).toISOString(),
        end: new Date(Math.min(begin + DAY_MS, last) - 1).toISOString(),
      },
    ];
    for (let start = 0; start < vehicles.length; start += 100) {
      for (const category of CATEGORIES) {
        requests.push(
          new URLSearchParams({
            event_category: String(category),
            vehicles_id: JSON.stringify(vehicles.slice(start, start + 100)),
            periods: JSON.stringify(periods),
            includes: 'vehicle,driver,location_start,location_end',
          }).toString(),
        );
      }
    }
  }
  return requests;
}
