// A file that was written or moved survives a power cut: its content is synced before it gets its name, and then
// the folders that hold the name.
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeFolder, moveFile, publishFile, replaceFile } from '../../../src/core/atomic-file.ts';
import { finishFile } from '../../../src/erp/files/finish.ts';
import { appendLateResults } from '../../../src/erp/files/result.ts';
import { storePicture } from '../../../src/sync/pull/resources/checklists/pictures.ts';
import { writeManifest } from '../../../src/warehouse/export/manifest.ts';

let folder: string;
/** The synced paths below `folder`, in order; drafts without the random part of their name. */
let synced: string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roadbook-atomic-'));
  synced = [];
  const handle = await open(folder);
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const sync = prototype.sync;
  const watched = vi.spyOn(prototype, 'sync').mockImplementation(function (this: FileHandle) {
    const path = relative(folder, readlinkSync(`/proc/self/fd/${this.fd}`));
    synced.push(path.replace(/\.[0-9a-f]{8}\.tmp$/, '.tmp') || '.');
    return sync.call(this);
  });
  onTestFinished(() => {
    watched.mockRestore();
    rmSync(folder, { recursive: true });
  });
});

describe('a sync to disk', () => {
  it('of a replaced file covers the draft, then its folder', async () => {
    await replaceFile(join(folder, 'a.json'), 'new');
    expect(synced).toEqual(['.a.json.tmp', '.']);
    expect(readFileSync(join(folder, 'a.json'), 'utf8')).toBe('new');
    expect(readdirSync(folder)).toEqual(['a.json']);
  });

  it('of new folders covers their parents', async () => {
    await makeFolder(join(folder, 'a/b'));
    expect(synced).toEqual(['a', '.']);
  });

  it('of a published draft covers the draft, then its folder', async () => {
    writeFileSync(join(folder, 'draft'), '');
    await publishFile(join(folder, 'draft'), join(folder, 'a.db'));
    expect(synced).toEqual(['draft', '.']);
  });

  it('of a move covers both folders', async () => {
    await makeFolder(join(folder, 'done'));
    writeFileSync(join(folder, 'a'), '');
    synced = [];
    await moveFile(join(folder, 'a'), join(folder, 'done/a'));
    expect(synced).toEqual(['done', '.']);
  });

  it('covers a finished dropped file, the first late results, a manifest and a picture', async () => {
    writeFileSync(join(folder, 'plans.csv'), '');
    const { size, mtimeMs } = statSync(join(folder, 'plans.csv'));
    const at = '2026-05-17T12:00:00.000Z';
    const taken = { name: 'plans.csv', size, mtimeMs, items: 0, readAt: at };
    const content = { items: [], readErrors: [] };
    await finishFile({
      folder,
      file: taken,
      content,
      outcomes: [],
      finishedAt: at,
      language: 'pt',
      places: () => undefined,
    });
    expect(synced).toEqual([
      '.',
      ...['json', 'csv'].flatMap((format) => [`done/.plans.csv.result.${format}.tmp`, 'done']),
      'done',
      '.',
    ]);
    synced = [];
    const late = {
      externalCode: 'P1',
      periodStart: null,
      state: 'confirmed',
      remoteId: 7,
      message: null,
    } as const;
    for (let times = 0; times < 2; times++) await appendLateResults(join(folder, 'late'), [late], at);
    expect(synced).toEqual(['.', 'late']);
    synced = [];
    await writeManifest(folder, { format: 'csv', tables: {} });
    expect(synced).toEqual(['.export.json.tmp', '.']);
    synced = [];
    const { file } = await storePicture(folder, Buffer.from('x'), 'image/png');
    const [part] = file.split('/');
    expect(synced).toEqual(['.', `${part}/.${file.split('/')[1]}.tmp`, part]);
  });
});

it('a file that cannot get its name leaves no draft', async () => {
  await makeFolder(join(folder, 'a.json/b'));
  await expect(replaceFile(join(folder, 'a.json'), 'new')).rejects.toThrow();
  expect(readdirSync(folder)).toEqual(['a.json']);
});
