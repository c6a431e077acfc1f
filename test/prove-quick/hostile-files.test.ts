// The daemon stays responsive while it reads dropped files that are made to keep their reader busy.
import { existsSync, mkdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { loadJobs } from '../../src/app/app.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { workbookOf } from '../support/erp/erp-workbook.ts';
import { configFor, makeWorkplace } from '../support/process/workplace.ts';

const MEGABYTE = 1024 * 1024;
const HEADER = 'plan.external_code,plan.date_time_start,plan.date_time_end,point.name,point.address\n';

const PERIOD = { date_time_start: '2026-05-18T08:00', date_time_end: '2026-05-18T18:00' };
const STOP = { name: 'A', address: 'Rua Um, 1' };
const wrongPlan = (code: string, fields: object): string =>
  JSON.stringify({ external_code: code, ...PERIOD, route_points: [STOP], ...fields });
const many = <T>(length: number, value: T): T[] => Array.from({ length }, () => value);

/** In the order in which they are read. The last one keeps its reader busy for a minute or more. */
const FILES: Readonly<Record<string, string | Buffer>> = {
  'deep-and-broken.json': '['.repeat(MEGABYTE / 4),
  'deep.json': '['.repeat(MEGABYTE / 2) + ']'.repeat(MEGABYTE / 2),
  'deep-object.json': `${'{"a":'.repeat(MEGABYTE / 32)}1${'}'.repeat(MEGABYTE / 32)}`,
  'deep-and-large.json': '['.repeat(4 * MEGABYTE),
  'one-row.csv': `${HEADER}${'x'.repeat(50 * MEGABYTE)}`,
  'one-row-of-cells.csv': `${HEADER}${','.repeat(MEGABYTE - 1)}x\n`,
  'one-quoted-row.csv': `${HEADER}"${'""'.repeat(20 * MEGABYTE)}`,
  'one-header.csv': ','.repeat(50 * MEGABYTE),
  'long-names.csv': `${HEADER.trim()}${Array.from({ length: 990 }, (_, i) => `,${i}${'x'.repeat(1_020)}`).join('')}\n`,
  'drivers.json': wrongPlan('P1', { entity: many(340_000, {}) }),
  'items.json': wrongPlan('P2', { route_points: [{ ...STOP, route_point_items: many(150_000, {}) }] }),
  'points.json': wrongPlan('P3', {
    route_points: many(9_000, { name: [], order: 'x', latitude: 'x', type: 'x', info: [] }),
  }),
  'plans.json': `[${Array.from({ length: 6_000 }, (_, i) => wrongPlan(`Q${i}`, { route_points: [{ name: 'A' }] }))}]`,
  'spaces.xlsx': workbookOf(`<sheetData/>${' '.repeat(30 * MEGABYTE)}`),
};
const names = Object.keys(FILES);
const [slowest = ''] = names.slice(-1);
const others = names.slice(0, -1);

const jobs = (await loadJobs()).map(({ name }) =>
  name === 'push-route-plans' ? `  ${name}: { schedule: "* * * * * *" }\n` : `  ${name}: { enabled: false }\n`,
);

it('/livez answers within a second while the daemon reads hostile files', async () => {
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.close());
  const erp = 'erp:\n  route_plans: { source: files, folder: erp, settle: 100ms }\n';
  const place = makeWorkplace(configFor(sandbox.url, `${erp}jobs:\n${jobs.join('')}`));
  onTestFinished(() => place.remove());
  const daemon = place.start(['start', '--log-level', 'debug']);
  onTestFinished(() => {
    for (const reader of readersOf(daemon.pid)) process.kill(reader, 'SIGKILL');
  });
  await daemon.printed(/"run finished"/);
  const url = /http:\/\/\S+(?=\s*$)/m.exec(daemon.stdout().replaceAll(sandbox.url, ''))?.[0] ?? '';
  // The first request loads the code of the page.
  expect((await fetch(`${url}/livez`)).status).toBe(200);
  const folder = join(place.dir, 'erp');

  const ask = async () => {
    const before = mainThreadSeconds(daemon.pid);
    const { status } = await fetch(`${url}/livez`);
    expect(status).toBe(200);
    expect(mainThreadSeconds(daemon.pid) - before).toBeLessThan(1);
  };
  dropAll(folder, others);
  while (!others.every((name) => existsSync(join(folder, 'failed', name)))) await ask();
  dropAll(folder, [slowest]);
  while (readersOf(daemon.pid).length === 0) await ask();
  const [reader] = readersOf(daemon.pid);
  for (let asked = 0; asked < 200; asked++) await ask();
  expect(readersOf(daemon.pid)).toEqual([reader]);
  daemon.kill('SIGTERM');
  expect(await daemon.ended).toMatchObject({ code: 0 });
});

/** The files appear complete, oldest first. */
function dropAll(folder: string, names: readonly string[]): void {
  const aside = join(folder, 'aside');
  mkdirSync(aside, { recursive: true });
  for (const [i, name] of names.entries()) {
    writeFileSync(join(aside, name), FILES[name] ?? '');
    utimesSync(join(aside, name), 1_000_000 + i, 1_000_000 + i);
  }
  for (const name of names) renameSync(join(aside, name), join(folder, name));
}

/** CPU time of the thread that answers: by the clock, an answer also waits for whatever else the machine does. */
function mainThreadSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const TICKS_A_SECOND = 100;
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}

/** The processes that the daemon has started; none if it has ended. */
function readersOf(pid: number): number[] {
  const path = `/proc/${pid}/task/${pid}/children`;
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}
