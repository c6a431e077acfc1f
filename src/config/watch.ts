// Watches the configuration file and the files it depends on. It watches their folders, because many editors save by
// rename. It also polls the contents, because some file systems send no events and the target of a link may be in another
// folder. A change counts only when the contents are stable, so that a half-written file is not loaded.
import { createHash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Log } from '../core/log.ts';
import type { Clock } from '../core/time/clock.ts';
import { secretFilesIn } from './yaml/interpolation.ts';

export interface WatchDependencies {
  /** The configuration file; the secret files it names are watched too. */
  file: string;
  /** Other files that it depends on, such as `.env`. */
  beside: readonly string[];
  clock: Clock;
  log: Log;
  /** Called once for each change; calls do not overlap. */
  changed(): Promise<void>;
}

export interface ConfigWatch {
  start(): void;
  /** Idempotent and safe before start; resolves after the last call of `changed`. */
  stop(): Promise<void>;
}

/** Time between two polls without a folder event. */
const POLL_MS = 1_000;
/** Contents count as stable after this time without a change. */
const STABLE_MS = 300;
/** The same for a missing file: some editors and tools delete the file before they write it again. */
const GONE_MS = 1_500;
const MAX_READ_BYTES = 256 * 1_024;

export function watchConfig(dependencies: WatchDependencies): ConfigWatch {
  const { clock, log } = dependencies;
  const stopping = new AbortController();
  let wakeUp = new AbortController();
  const folders = watchFolders(() => wakeUp.abort());
  let running: Promise<void> | undefined;

  const pause = (ms: number): Promise<void> => clock.sleep(ms, stopping.signal);

  /** A folder event ends the wait early. An event during the previous poll is not lost. */
  async function untilNextPoll(): Promise<void> {
    const either = AbortSignal.any([stopping.signal, wakeUp.signal]);
    await clock.sleep(POLL_MS, either).catch(() => undefined);
    wakeUp = new AbortController();
  }

  async function whenStable(first: Snapshot): Promise<Snapshot> {
    for (let last = first; ; ) {
      await pause(last.gone ? GONE_MS : STABLE_MS);
      const next = await takeSnapshot(dependencies);
      if (next.contents === last.contents) return next;
      last = next;
    }
  }

  async function loop(): Promise<void> {
    // Starts empty, so that the file is loaded once more: it may have changed since the first load.
    let known = '';
    while (!stopping.signal.aborted) {
      const snapshot = await takeSnapshot(dependencies);
      folders.watch(snapshot.files);
      if (snapshot.contents !== known) {
        known = (await whenStable(snapshot)).contents;
        await dependencies.changed();
      } else await untilNextPoll();
    }
  }

  return {
    start() {
      running ??= loop().catch((error) => {
        if (!stopping.signal.aborted) log.error({ err: error }, 'the configuration file is no longer watched');
      });
    },
    async stop() {
      stopping.abort();
      await running;
      folders.watch([]);
    },
  };
}

interface Snapshot {
  files: string[];
  contents: string;
  /** The configuration file does not exist. */
  gone: boolean;
}

async function takeSnapshot({ file, beside }: Pick<WatchDependencies, 'file' | 'beside'>): Promise<Snapshot> {
  const main = await contentsOf(file);
  const files = [...beside, ...secretFilesIn(main?.toString() ?? '')];
  const all = [main, ...(await Promise.all(files.map(contentsOf)))];
  const contents = all.map((each) => (each === undefined ? 'gone' : digestOf(each))).join(' ');
  return { files: [file, ...files], contents, gone: main === undefined };
}

export const digestOf = (contents: Buffer | string): string => createHash('sha256').update(contents).digest('hex');

/** A file too large for a configuration is not read; its size and time stand for its contents. */
async function contentsOf(file: string): Promise<Buffer | undefined> {
  try {
    const { size, mtimeMs } = await statFile(file);
    return size > MAX_READ_BYTES ? Buffer.from(`${size} ${mtimeMs}`) : await readFile(file);
  } catch {
    return undefined;
  }
}

/** Rejects anything but a regular file: a read from a pipe or device may never end. */
async function statFile(file: string) {
  const found = await stat(file);
  if (!found.isFile()) throw new Error('not a file');
  return found;
}

/** Watches the folders of the files, as far as possible; calls `onChange` when a file may have changed. */
function watchFolders(onChange: () => void) {
  const watchers = new Map<string, FSWatcher>();
  let names = new Set<string>();

  function open(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, (event, name) => {
        // A rename under any name may replace a link. Other events count only for our files: the folder may change often.
        if (event === 'rename' || name === null || names.has(name)) onChange();
      });
      watcher.on('error', () => close(folder));
      watchers.set(folder, watcher);
    } catch {
      // The folder cannot be watched; polling still finds changes.
    }
  }

  function close(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }

  return {
    watch(files: readonly string[]): void {
      names = new Set(files.map((file) => basename(file)));
      const wanted = new Set(files.map((file) => dirname(resolve(file))));
      for (const folder of watchers.keys()) if (!wanted.has(folder)) close(folder);
      for (const folder of wanted) if (!watchers.has(folder)) open(folder);
    },
  };
}
