// The cost of a push without a product: the plans of the drop folder posted by got, as many at a time, nothing kept and
// nothing searched for.
//   node test/bench/push/push-script.ts <url> <folder> <credentials as JSON> <slots>
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import got from 'got';

const USUAL = { geocoding: true, source: 'G', has_time_window: false, is_async: false };

interface Plan {
  options: object;
}

const [url = '', folder = '', credentials = '{}', slots = '1'] = process.argv.slice(2);
const login = await got.post(`${url}/auth/login/`, { json: JSON.parse(credentials) }).json<{ access_token: string }>();
const headers = { authorization: `Bearer ${login.access_token}` };
const plans = readdirSync(folder).flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Plan[]);
let confirmed = 0;
const slot = async (): Promise<void> => {
  for (let next = plans.shift(); next !== undefined; next = plans.shift()) {
    const { options, ...data } = next;
    await got.post(`${url}/import/route_plan`, {
      json: { ...USUAL, ...options, data },
      headers,
      retry: { limit: 0 },
    });
    confirmed++;
  }
};
await Promise.all(Array.from({ length: Number(slots) }, slot));
process.stdout.write(JSON.stringify({ confirmed, requests: confirmed + 1 }));
