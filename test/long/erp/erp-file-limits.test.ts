// A dropped file that would take all memory or time is rejected in clear words, and the process goes on meanwhile.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { unzipSync, zipSync } from 'fflate';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type ReadLimits, readFileInLimits } from '../../../src/erp/files/drop-file-reader.ts';
import { csvTable } from '../../../src/erp/formats/csv-table.ts';
import type { ParsedItem } from '../../../src/erp/items/item.ts';
import { prepareMapping } from '../../../src/erp/rows/mapping.ts';
import type { FileContent, TakenFile } from '../../../src/erp/source.ts';
import {
  clock,
  codesOf,
  drop,
  dropPlans,
  finish,
  folder,
  inFolder,
  open,
  outcome,
  plan,
  resultIn,
  take,
  taken,
  useDropFolder,
} from '../../support/erp/drop-folder.ts';
import { drain, ZONE } from '../../support/erp/erp-benches.ts';
import { workbookOf } from '../../support/erp/erp-workbook.ts';
import { readApart } from '../../support/erp/large-feed.ts';
import { computingDuring, turnsDuring } from '../../support/measure/turns.ts';

useDropFolder();

const MEGABYTE = 1024 * 1024;
const READER = resolve('src/erp/files/drop-file-reader.ts');
const HEADER = 'plan.external_code,plan.date_time_start,plan.date_time_end,point.name,point.address';

const TOO_MANY_COLUMNS = 'has more than 1000 columns; remove those that are not needed';

/** Keeps the parser of workbooks busy for seconds, on a fast machine too. */
function busy(): Buffer {
  const rows = Array.from({ length: 900_000 }, (_, i) => `<row r="${i + 1}"><c r="A${i + 1}"><v>1</v></c></row>`);
  return workbookOf(`<sheetData>${rows.join('')}</sheetData>`);
}

async function read(name: string, limits: Partial<ReadLimits>, signal?: AbortSignal): Promise<ParsedItem[]> {
  const mapping = prepareMapping('route_plans', {});
  const file = { path: join(folder, name), name, size: 2 * MEGABYTE };
  const context = { kind: 'route_plans', zone: ZONE, reuseCodes: false, mapping } as const;
  const parsedItems: ParsedItem[] = [];
  const options = { signal, limits: { heapMb: 512, timeoutMs: 60_000, ...limits } };
  for await (const parsed of readFileInLimits(file, context, options)) parsedItems.push(parsed);
  return parsedItems;
}

const reasonsIn = (path: string): string[] => resultIn(path).faults.map(({ reason }: { reason: string }) => reason);

describe('a workbook', () => {
  test('that unpacks to too much goes to failed/ unread, and the other files go on', async () => {
    const bytes = workbookOf(`<sheetData/>${' '.repeat(65 * MEGABYTE)}`);
    expect(bytes.length).toBeLessThan(100_000);
    drop('a.xlsx', bytes);
    dropPlans('b.json', 'P1');
    const source = open();
    expect(codesOf(await take(source))).toEqual(['P1']);
    await finish(source);
    expect(inFolder('failed')).toEqual(['a.xlsx', 'a.xlsx.result.json']);
    expect(reasonsIn('failed/a.xlsx')).toEqual(['unpacks to more than 64 MB; split it, or write it as CSV']);
  });

  test('with a large part that is no sheet goes to failed/ unread as well', async () => {
    drop(
      'a.xlsx',
      Buffer.from(
        zipSync({
          ...unzipSync(workbookOf('<sheetData/>')),
          'xl/media/a.bin': new Uint8Array(65 * MEGABYTE),
        }),
      ),
    );
    const source = open();
    await take(source);
    await finish(source);
    expect(reasonsIn('failed/a.xlsx')).toEqual(['unpacks to more than 64 MB; split it, or write it as CSV']);
  });

  test('with a cell at the end of the largest sheet is rejected for the memory that it takes', async () => {
    drop('a.xlsx', workbookOf('<sheetData><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'));
    expect(await read('a.xlsx', { heapMb: 64 })).toEqual([
      {
        readError: {
          origin: 'a.xlsx',
          reason: 'needs more than 64 MB of memory to read; split it, or write it as CSV',
        },
        whole: 'too_large',
      },
    ]);
  });

  describe('that keeps its parser busy', () => {
    let answered = 0;
    let ask: () => Promise<void>;

    beforeEach(async () => {
      drop('a.xlsx', busy());
      answered = 0;
      const server = createServer((_request, response) => response.end('ok')).listen(0);
      onTestFinished(() => void server.close());
      const { port } = server.address() as AddressInfo;
      ask = async () => {
        await (await fetch(`http://127.0.0.1:${port}`)).text();
        answered += 1;
      };
    });

    test('is rejected, and requests are answered meanwhile', async () => {
      let isRead = false;
      const reading = read('a.xlsx', { timeoutMs: 1_500 }).finally(() => {
        isRead = true;
      });
      while (!isRead) await ask();
      expect(await reading).toEqual([
        {
          readError: {
            origin: 'a.xlsx',
            reason: 'takes longer than 1.5 s to read; split it, or write it as CSV',
          },
          whole: 'too_large',
        },
      ]);
      // In the same process, there are a few until the parser begins.
      expect(answered).toBeGreaterThan(50);
    });

    test('is read no further once the daemon was killed', async () => {
      const file = { path: join(folder, 'a.xlsx'), name: 'a.xlsx', size: 1 };
      const context = {
        kind: 'route_plans',
        zone: ZONE,
        reuseCodes: false,
        mapping: prepareMapping('route_plans', {}),
      };
      const script = `const { readFileInLimits } = await import(${JSON.stringify(READER)});
        for await (const _ of readFileInLimits(${JSON.stringify(file)}, ${JSON.stringify(context)}));`;
      const daemon = spawn(process.execPath, ['--input-type=module', '-e', script]);
      onTestFinished(() => void daemon.kill('SIGKILL'));
      const patient = { timeout: 60_000 };
      // By then its modules are loaded, and the parser keeps it busy. Before, the daemon may have had another child.
      const busyReader = () => childrenOf(daemon.pid ?? 0).find((child) => (cpuTicksOf(child) ?? 0) > 100);
      await expect.poll(busyReader, patient).toBeDefined();
      const reader = busyReader() ?? 0;
      daemon.kill('SIGKILL');
      await expect.poll(() => cpuTicksOf(reader), patient).toBeUndefined();
    });

    test('is left alone when the run is stopped', async () => {
      const stop = new AbortController();
      const reading = read('a.xlsx', {}, stop.signal);
      await ask();
      stop.abort(new Error('stopped'));
      await expect(reading).rejects.toThrow('stopped');
    });
  });
});

describe('a JSON file', () => {
  test('that takes too much memory is rejected', async () => {
    drop('a.json', `[${'[],'.repeat(5 * MEGABYTE)}[]]`);
    expect(await read('a.json', { heapMb: 64 })).toEqual([
      {
        readError: {
          origin: 'a.json',
          reason: 'needs more than 64 MB of memory to read; split it, or write it as CSV',
        },
        whole: 'too_large',
      },
    ]);
  });

  test.each(['SIGKILL', 'SIGINT'] as const)('whose reader gets a %s is not rejected for it', async (signal) => {
    dropPlans('a.json', ...Array.from({ length: 30_000 }, (_, i) => `P${i}`));
    const before = readers();
    const reading = read('a.json', {}).then(
      (all) => all.length,
      (error: unknown) => error,
    );
    let reader: number | undefined;
    while (reader === undefined) {
      await new Promise((turn) => setImmediate(turn));
      reader = readers().find((pid) => !before.includes(pid));
    }
    process.kill(reader, signal);
    const outcome = await reading;
    if (signal === 'SIGKILL') expect(outcome).toMatchObject({ code: 'erp_unavailable' });
    else expect([30_000, 'erp_unavailable']).toContain((outcome as { code?: string }).code ?? outcome);
  });

  test('of many plans is read completely by a separate process', async () => {
    const codes = Array.from({ length: 3_000 }, (_, i) => `P${i}`);
    dropPlans('a.json', ...codes);
    const parsedItems = await read('a.json', {});
    expect(parsedItems).toHaveLength(3_000);
    expect(parsedItems[2_999]).toMatchObject({ item: { externalCode: 'P2999', origin: 'a.json record 3000' } });
  });

  test.each(['one record', 'many records'])(
    'with too many names in %s is rejected for that one reason',
    async (where) => {
      const names = Array.from({ length: 50_000 }, (_, i) => ({ [`x.${i}`]: 1 }));
      drop('a.json', JSON.stringify(where === 'one record' ? Object.assign({}, ...names) : names));
      const [batch] = await drain(open(), clock);
      expect(batch?.readErrors).toEqual([{ origin: 'a.json', reason: TOO_MANY_COLUMNS }]);
    },
  );

  test('with many rejected plans is finished with turns in between', async () => {
    const codes = Array.from({ length: 6_000 }, (_, i) => `P${i}`);
    const wrong = { name: 'A', latitude: 'x' };
    drop('a.json', JSON.stringify(codes.map((code) => ({ ...plan(code), route_points: [wrong] }))));
    const source = open();
    await take(source);
    const reasons = ['route_points[0].latitude: is not a number', 'route_points[0].longitude: give both coordinates'];
    const outcomes = codes.map((code) => ({ ...outcome(code, 'rejected'), reasons }));
    const file = taken.get('a.json') as TakenFile;
    const content = (await source.files?.contentOf(file)) as FileContent;
    const work = await computingDuring(async () => source.files?.finish(file, content, outcomes));
    expect(work.longestBlock).toBeLessThan(0.4 * work.total);
  });

  test('gives no item that is too large, and gives the others', async () => {
    const large = { ...plan('P1'), notes: 'x'.repeat(5 * MEGABYTE) };
    drop('a.json', JSON.stringify([large, plan('P2')]));
    const [batch] = await drain(open(), clock);
    expect(batch?.items.map(({ externalCode }) => externalCode)).toEqual(['P2']);
    expect(batch?.readErrors).toEqual([
      {
        origin: 'a.json record 1',
        externalCode: 'P1',
        startDay: '2026-05-18',
        reason: 'is larger than 4 MB; split it',
      },
    ]);
  });
});

describe('a CSV file', () => {
  const row = (code: string, name: string) => `${code},2026-05-18T08:00,2026-05-18T18:00,${name},Rua Um\n`;

  test('gives no plan that is too large, however many rows it has, and gives the others', async () => {
    const rows = Array.from({ length: 50 }, (_, i) => row('P1', `${i}${'x'.repeat(100_000)}`));
    drop('a.csv', `${HEADER}\n${rows.join('')}${row('P2', 'A')}`);
    const [batch] = await drain(open(), clock);
    expect(batch?.items.map(({ externalCode }) => externalCode)).toEqual(['P2']);
    expect(batch?.readErrors).toEqual([
      {
        origin: 'a.csv row 2',
        externalCode: 'P1',
        startDay: '2026-05-18',
        reason: 'is larger than 4 MB; split it',
      },
    ]);
  });

  test('is left alone when the run is stopped', async () => {
    drop('a.csv', `${HEADER}\n${row('P1', 'A')}`);
    await expect(read('a.csv', {}, AbortSignal.abort())).rejects.toThrow('aborted');
  });

  test('larger than the memory is read', async () => {
    const rows = Array.from({ length: 10_000 }, (_, i) => row(`P${i}`, 'x'.repeat(2_000)));
    drop('a.csv', `${HEADER}\n${rows.join('')}`);
    const feed = { source: 'files', folder, settleMs: 1, keepFilesMs: 1, mapping: {} } as const;
    const heap = ['--max-old-space-size=24', '--max-semi-space-size=2'];
    expect(await readApart(feed, heap)).toMatch(/^10000 plans of 10000 rows/);
  });

  test.each([
    ['empty lines', 'a\n', '\n', 500],
    ['spaces without a line end', '', ' ', 16],
  ])('of %s yields to the event loop', async (_name, header, character, turns) => {
    async function* rows() {
      const chunk = Buffer.from(character.repeat(MEGABYTE / 16));
      const all = [Buffer.from(header), ...Array.from({ length: 20 }, () => chunk)];
      yield* (await csvTable(Readable.from(all))).rows;
    }
    expect(await turnsDuring(rows())).toBeGreaterThanOrEqual(turns);
  });

  test('with an unclosed quotation mark is read no further than a megabyte', async () => {
    drop('a.csv', `${HEADER}\n"${'x'.repeat(2 * MEGABYTE)}`);
    const [batch] = await drain(open(), clock);
    expect(batch?.readErrors).toEqual([{ origin: 'a.csv', reason: expect.stringContaining('CSV_MAX_RECORD_SIZE') }]);
  });

  test.each([
    ['header', ''],
    ['row', `${HEADER}\n`],
  ])('with a %s of empty cells without end is read little further', async (_what, before) => {
    let given = 0;
    async function* chunks() {
      yield Buffer.from(before);
      for (; given < 5 * MEGABYTE; given += MEGABYTE / 16) yield Buffer.from(','.repeat(MEGABYTE / 16));
    }
    const reading = csvTable(chunks()).then(async ({ rows }) => {
      for await (const _ of rows);
    });
    await expect(reading).rejects.toThrow('CSV_MAX_RECORD_SIZE');
    expect(given).toBeLessThan(2 * MEGABYTE);
  });

  test('with long rows is read completely', async () => {
    const rows = Array.from({ length: 6 }, (_, i) => row(`P${i}`, 'x'.repeat(900_000)));
    drop('a.csv', `${HEADER}\n${rows.join('')}`);
    expect(codesOf(await drain(open(), clock))).toEqual(['P0', 'P1', 'P2', 'P3', 'P4', 'P5']);
  });

  test('with codes that are too long goes to failed/ without an item', async () => {
    const rows = Array.from({ length: 75 }, (_, i) => row(`P${i}${'x'.repeat(900_000)}`, 'Rua A'));
    drop('a.csv', `${HEADER}\n${rows.join('')}`);
    const source = open();
    await take(source);
    await finish(source);
    const reason = 'plan.external_code is longer than 500 characters';
    expect(reasonsIn('failed/a.csv')).toEqual(rows.map(() => reason));
    expect(resultIn('failed/a.csv').results).toEqual([]);
  });

  test('with too many columns is rejected', async () => {
    drop('a.csv', `${HEADER},${Array.from({ length: 1_000 }, (_, i) => `c${i}`).join(',')}\n`);
    const [batch] = await drain(open(), clock);
    expect(batch?.readErrors).toEqual([{ origin: 'a.csv', reason: TOO_MANY_COLUMNS }]);
  });

  test('with a megabyte of unknown column names is rejected in little memory', async () => {
    drop('a.csv', `${HEADER},${Array.from({ length: 990 }, (_, i) => `${i}${'x'.repeat(1_020)}`).join(',')}\n`);
    const feed = { source: 'files', folder, settleMs: 1, keepFilesMs: 1, mapping: {} } as const;
    expect(await readApart(feed, ['--max-old-space-size=128'])).toMatch(/^0 plans/);
  });

  test('with something else as its header gives a short message', async () => {
    drop('a.csv', `${HEADER},${'x'.repeat(100_000)}\n`);
    const [batch] = await drain(open(), clock);
    expect(batch?.readErrors[0]?.reason.length).toBeLessThan(200);
  });
});

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);

/** The processes that read a dropped file for this one. */
const readers = (): number[] => childrenOf(process.pid);

/** Hundredths of a second that the process has computed; undefined if it has ended. */
function cpuTicksOf(pid: number): number | undefined {
  if (!existsSync(`/proc/${pid}/stat`)) return undefined;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ');
  return fields[2] === 'Z' ? undefined : Number(fields[13]);
}
