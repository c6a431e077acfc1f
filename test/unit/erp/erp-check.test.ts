// `erp check` of a file that comes in several batches, and the values with which it tries statements.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { checkErp } from '../../../src/erp/check.ts';
import type { FeedKind } from '../../../src/erp/feed-kinds.ts';
import type { FeedSettings } from '../../../src/erp/sources.ts';
import { planContext } from '../../support/erp/clock-reader.ts';
import { makeSqliteErp } from '../../support/erp/sqlite-erp.ts';
import { itinerary } from '../../support/push/push-samples.ts';

it('does not count an item that a later batch invalidates', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'roadbook-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const row = (code: string) => `${code};2026-05-18T08:00;2026-05-18T18:00;Store;Rua Um`;
  const codes = [...Array.from({ length: 1_200 }, (_, i) => `P${i}`), 'P3'];
  const header = 'plan.external_code;plan.date_time_start;plan.date_time_end;point.name;point.address';
  const file = join(folder, 'a.csv');
  writeFileSync(file, [header, ...codes.map(row)].join('\n'));
  const context = planContext('America/Sao_Paulo');
  expect(await checkErp({ settings: undefined, file, show: 'P4', context })).toMatchObject({
    items: 1_199,
    rejected: 1,
    issues: [],
    item: { data: { external_code: 'P4' } },
  });
  const unread = await checkErp({ settings: undefined, file, show: 'P3', context });
  expect([unread.item, unread.issues]).toEqual([undefined, [expect.objectContaining({ code: 'P3' })]]);
  await expect(checkErp({ settings: undefined, file, show: 'P9999', context })).rejects.toThrow('"P9999"');
});

it.each<[FeedKind, Record<string, unknown>]>([
  [
    'route_plans',
    {
      'plan.external_code': 'P1',
      'plan.date_time_start': '2025-03-13T08:00',
      'plan.date_time_end': '2025-03-13T18:00',
      'point.name': 'A',
    },
  ],
  ['itineraries', itinerary('P1')],
])('tries the statements of %s with the start that a run binds', async (kind, cells) => {
  const { feed, give } = await makeSqliteErp(Object.keys(cells));
  await give('P1', cells);
  const acknowledge = "update item set state = :state where :period_start = '2025-03-13T11:00:00.000Z'";
  const settings = { ...feed, acknowledge } as FeedSettings;
  const context = { ...planContext('America/Sao_Paulo'), kind };
  const { statements } = await checkErp({ settings, triesStatements: true, context });
  expect(statements).toEqual([{ statement: 'acknowledge', rows: 1 }]);
});
