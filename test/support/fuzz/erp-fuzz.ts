// Files as an ERP should never drop them: whole, cut, with bytes changed, in any encoding, or no file of its kind at all.
// Each gives plans or a clear error, and ends in done/ or failed/ with its own bytes and a result beside it.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';
import { openSource } from '../../../src/erp/sources.ts';
import {
  contextFor,
  csvText,
  drain,
  finishTaken,
  NOW,
  remember,
  type Taken,
  temporaryFolder,
} from '../erp/erp-benches.ts';
import { workbook } from '../erp/erp-workbook.ts';
import { NASTY_TEXTS } from './fuzzed-records.ts';

const FORMATS = ['json', 'csv', 'xlsx'] as const;
type Format = (typeof FORMATS)[number];

export interface FuzzedFile {
  format: Format;
  bytes: Buffer;
  /** Plans that are in it for certain, since nothing but its encoding was changed. */
  codes: readonly string[] | undefined;
}

const names = fc.oneof(
  fc.constantFrom(...NASTY_TEXTS.filter((text) => text === text.trim() && text >= ' ')),
  fc.string(),
);

function contentOf(format: Format, stops: readonly string[]): Buffer {
  const rows = stops.map((name, at) => ({
    'plan.external_code': `PLAN-${at}`,
    'plan.date_time_start': '2026-05-18T08:00',
    'plan.date_time_end': '2026-05-18T18:00',
    'point.name': `Stop ${format === 'json' ? name : name.replace(/[^\p{L}\p{N} ,;'=+@-]/gu, '')}`,
    'point.address': 'Rua Um, 1',
  }));
  if (format === 'csv') return Buffer.from(csvText(rows));
  if (format === 'xlsx') return workbook([Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))]);
  const plans = rows.map((row) => ({
    external_code: row['plan.external_code'],
    date_time_start: row['plan.date_time_start'],
    date_time_end: row['plan.date_time_end'],
    route_points: [{ name: row['point.name'], address: row['point.address'] }],
  }));
  return Buffer.from(JSON.stringify(plans));
}

type Damage = (bytes: Buffer) => Buffer;

const encodings: fc.Arbitrary<Damage> = fc.constantFrom<Damage[]>(
  (bytes) => bytes,
  (bytes) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]),
  (bytes) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(bytes.toString(), 'utf16le')]),
);
const share = fc.double({ min: 0, max: 1, noNaN: true });
const damages: fc.Arbitrary<Damage> = fc.oneof(
  share.map(
    (at): Damage =>
      (bytes) =>
        bytes.subarray(0, Math.floor(bytes.length * at)),
  ),
  fc.array(fc.tuple(share, fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 5 }).map(
    (changes): Damage =>
      (bytes) => {
        const damaged = Buffer.from(bytes);
        for (const [at, byte] of changes) damaged[Math.floor(at * (bytes.length - 1))] = byte;
        return damaged;
      },
  ),
  fc.uint8Array({ maxLength: 400 }).map(
    (any): Damage =>
      () =>
        Buffer.from(any),
  ),
  fc.json({ maxDepth: 3 }).map(
    (text): Damage =>
      () =>
        Buffer.from(text),
  ),
  fc.constantFrom<Damage[]>(
    (bytes) => Buffer.from(bytes.toString(), 'latin1'),
    (bytes) => Buffer.from(bytes.toString(), 'utf16le'),
    (bytes) => Buffer.concat([bytes, bytes]),
    () => Buffer.from(`${'['.repeat(100_000)}`),
    () => Buffer.from(`{"__proto__":{"polluted":1},"external_code":"PLAN-0"}`),
  ),
);

export const fuzzedFiles: fc.Arbitrary<FuzzedFile> = fc
  .record({
    format: fc.constantFrom(...FORMATS),
    stops: fc.array(names, { minLength: 1, maxLength: 8 }),
    encoding: encodings,
    damage: fc.option(damages, { nil: undefined, freq: 3 }),
  })
  .map(({ format, stops, encoding, damage }) => {
    const content = contentOf(format, stops);
    // A workbook is compressed: it has no encoding.
    const encoded = format === 'xlsx' ? content : encoding(content);
    return {
      format,
      bytes: damage === undefined ? encoded : damage(encoded),
      codes: damage === undefined ? stops.map((_, at) => `PLAN-${at}`) : undefined,
    };
  });

export interface FileVerdict {
  plans: number;
  readErrors: number;
}

/** Drops the file, takes it, answers for every plan; throws where anything of it is lost. */
export async function tryFile({ format, bytes, codes }: FuzzedFile): Promise<FileVerdict> {
  const folder = temporaryFolder();
  const clock = createManualClock(NOW);
  const name = `drop.${format}`;
  writeFileSync(join(folder, name), bytes);
  const source = openSource(
    { source: 'files', folder, settleMs: 0, keepFilesMs: Number.POSITIVE_INFINITY, mapping: {} },
    contextFor(clock),
  );
  try {
    const taken: Taken = new Map();
    const batches = await drain(source, clock, (batch) => remember(taken, batch, clock));
    const items = batches.flatMap((batch) => batch.items).map(({ externalCode }) => externalCode);
    const readErrors = batches.flatMap((batch) => batch.readErrors);
    const unclear = readErrors.find(({ origin, reason }) => !origin.startsWith(name) || reason.trim().length < 10);
    if (unclear !== undefined) throw new Error(`a fault that says nothing: ${JSON.stringify(unclear)}`);
    const missing = (codes ?? []).filter((code) => !items.includes(code));
    if (missing.length > 0) throw new Error(`${missing.join()} not read: ${readErrors[0]?.reason}`);
    await finishTaken(source, taken, ({ externalCode }) => ({
      externalCode,
      periodStart: null,
      state: 'confirmed',
      remoteId: 7,
      message: null,
    }));
    expectMoved(folder, name, bytes);
    if (({} as { polluted?: unknown }).polluted !== undefined) throw new Error('prototype polluted');
    return { plans: items.length, readErrors: readErrors.length };
  } finally {
    await source.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function expectMoved(folder: string, name: string, bytes: Buffer): void {
  const places = ['done', 'failed'].filter((place) => inFolder(join(folder, place)).includes(name));
  const [place = ''] = places;
  if (places.length !== 1 || inFolder(folder).includes(name)) {
    throw new Error(`the file is in ${places.join(' and ') || 'no place'}`);
  }
  if (!readFileSync(join(folder, place, name)).equals(bytes)) throw new Error('the file has changed');
  JSON.parse(readFileSync(join(folder, place, `${name}.result.json`), 'utf8'));
}

function inFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
