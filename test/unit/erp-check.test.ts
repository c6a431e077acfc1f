// `erp check` of a file that comes in several batches.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { checkErp } from '../../src/erp/check.ts';
import { planContext } from '../support/clock-reader.ts';

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
