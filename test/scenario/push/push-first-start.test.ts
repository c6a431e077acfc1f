// The first start on the built-in service: sample plans for tomorrow are dropped once, pushed and confirmed.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { makeWorkplace, type Workplace } from '../../support/process/workplace.ts';

const CONFIG = 'erp: { route_plans: { source: files, folder: data/erp/route-plans, settle: 0s } }\n';

let place: Workplace;
afterEach(() => place.remove());

describe('the first start on the built-in service', () => {
  it('shows a push and its confirmation, and does not drop the samples again', async () => {
    place = makeWorkplace(CONFIG);
    const folder = join(place.dir, 'data/erp/route-plans');
    const first = await place.run(['run', 'push-route-plans', '--json']);
    expect(JSON.parse(first.stdout)).toMatchObject({ status: 'ok', sent: 2, confirmed: 2 });
    const done = readdirSync(join(folder, 'done'));
    // The file, and its result as JSON and as CSV.
    expect(done.filter((name) => name.startsWith('sample-'))).toHaveLength(3);
    const again = await place.run(['run', 'push-route-plans', '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({ status: 'ok', records: 0, sent: 0 });
  });
});
