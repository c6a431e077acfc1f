// As an attacker who writes into the ERP: SQL, formulas, HTML and paths in every text field reach the service
// unchanged, both in the requests and in its stored records.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { FileResult } from '../../../src/erp/files/result.ts';
import { stopPostgres } from '../../support/databases/postgres.ts';
import { UNSTORABLE } from '../../support/fuzz/fuzzed-records.ts';
import { codeOf, NASTY_PUSHES, type NastyPush, PUSHED_TEXTS, textsIn } from '../../support/fuzz/nasty-pushes.ts';
import { makePushPlace } from '../../support/push/push-place.ts';
import { pointOfInterest } from '../../support/push/push-samples.ts';

afterAll(stopPostgres);

type Item = Record<string, unknown>;

/** Known only to the ERP. */
const NO_FIELD = 'external_code';
/** The sandbox validates them and never returns them, as the service does. */
const NOT_RETURNED = ['info', 'start_local', 'end_local'];

interface ReceivedCall {
  data: Item;
  /** Fields of the call itself, beside the item. */
  source?: string;
}

async function place() {
  const received: ReceivedCall[] = [];
  const own = await makePushPlace({
    answering: (url, _original, { method, body }) => {
      if (method !== 'GET' && !url.pathname.startsWith('/auth/')) received.push(JSON.parse(body));
      return undefined;
    },
  });
  const kept = async ({ kind }: NastyPush): Promise<Item[]> => {
    const name = kind === 'agents' ? 'drivers' : kind;
    return (await fetch(`${own.sandbox.url}/_sandbox/truth/${name}?from=2025-03-13&to=2025-03-14`)).json() as Promise<
      Item[]
    >;
  };
  return { ...own, received, kept };
}

/** The item of the ERP as the calls carry it: the options of a plan stand beside it. */
function expected({ kind, item }: NastyPush, text: string, n: number): Item {
  const { options, ...data } = item(text, n);
  if (kind === 'route_plans') return { ...data, source: (options as Item).source };
  const { [NO_FIELD]: _code, ...fields } = data;
  return fields;
}

/** Cannot be compressed to the size of an index entry. */
const LONG = Array.from({ length: 400 }, (_, n) => createHash('sha256').update(String(n)).digest('hex')).join('');

it('codes and titles that no index of PostgreSQL can hold hold up nothing else', async () => {
  const own = await makePushPlace({ engine: 'postgres' });
  own.drop('points_of_interest', 'a.json', [
    pointOfInterest('Far', { external_code: LONG }),
    pointOfInterest(LONG, { external_code: 'TITLE' }),
    pointOfInterest('Near'),
  ]);
  const row = (code: string) => ({ 'plan.external_code': code, 'point.name': 'A', 'point.order': '1.5' });
  for (const n of [1, 2]) {
    own.drop('route_plans', `${n}.json`, [row(LONG), row(`P\0`), row('P\ud800')]);
    expect(await own.run('push-route-plans')).toMatchObject({ rejected: 3, error: { code: 'items_rejected' } });
    const done = await own.run('push-points-of-interest');
    expect(done).toMatchObject(
      n === 1 ? { sent: 1, rejected: 2, error: { code: 'items_rejected' } } : { status: 'ok' },
    );
  }
  expect(await own.outbox()).toMatchObject([{ external_code: 'Near' }, { external_code: 'TITLE', state: 'rejected' }]);
});

const isMoment = (path: string): boolean => path.startsWith('date_time_');

describe.each(NASTY_PUSHES)('dangerous texts in $kind', (push) => {
  it('reach the service byte for byte', async () => {
    const { received, kept, ...own } = await place();
    own.drop(
      push.kind,
      'nasty.json',
      PUSHED_TEXTS.map((text, n) => push.item(text, n)),
    );
    const all = PUSHED_TEXTS.length;
    expect(await own.run(push.job)).toMatchObject({ status: 'ok', sent: all, confirmed: all });
    const codes = (await own.outbox()).map(({ external_code }) => external_code);
    expect(codes.sort()).toEqual(PUSHED_TEXTS.map((text, n) => codeOf(text, n)).sort());
    expect(received).toHaveLength(all);
    const records = await kept(push);
    for (const [n, text] of PUSHED_TEXTS.entries()) {
      const texts = textsIn(expected(push, text, n)).filter(([path]) => !isMoment(path));
      const arrived = received.find(({ data }) => push.shows(data, text, n));
      const arrivedTexts = new Map(textsIn({ ...arrived?.data, ...(arrived?.source && { source: arrived.source }) }));
      expect(texts.map(([path]) => [path, arrivedTexts.get(path)])).toEqual(texts);
      const record = new Map(textsIn(records.find((each) => push.shows(each, text, n))));
      const back = texts.filter(([path]) => !NOT_RETURNED.includes(path.split('.').at(-1) ?? ''));
      expect(back.map(([path]) => [path, record.get(path)])).toEqual(
        // The sandbox trims an address.
        back.map(([path, each]) => [path, path.endsWith('.address') ? each.trim() : each]),
      );
    }
  });

  it('are rejected in plain words when no database can store them, and nothing else is held up', async () => {
    const { received, ...own } = await place();
    const inFields = UNSTORABLE.map((text, n) => push.item(text, n, `plain ${n}`));
    const inCodes = UNSTORABLE.map((text, n) => push.item('plain', 10 + n, text));
    own.drop(push.kind, 'nasty.json', [...inFields, ...inCodes, push.item('plain', 20)]);
    const wrong = inFields.length + inCodes.length;
    expect(await own.run(push.job)).toMatchObject({
      status: 'partial',
      sent: 1,
      rejected: wrong,
      error: { code: 'items_rejected' },
    });
    expect(received).toHaveLength(1);
    const path = join(own.folder(push.kind), 'failed', 'nasty.json.result.json');
    const { results, faults } = JSON.parse(readFileSync(path, 'utf8')) as FileResult;
    const rejected = results.filter(({ state }) => state === 'rejected');
    expect([rejected.length, faults.length]).toEqual([inFields.length, inCodes.length]);
    for (const reason of [...rejected.flatMap(({ reasons }) => reasons), ...faults.map((each) => each.reason)])
      expect(reason).toContain('contains a NUL or half a character');
  });
});
