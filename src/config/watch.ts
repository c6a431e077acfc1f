// Watches the files that make up the configuration. The folders are watched, not the files, so that an editor that
// saves by rename is seen; a slow look at the contents is the net under file systems that tell nothing and under
// links whose target lies elsewhere. A change counts once the contents have stood still, so that half a file is
// not taken for a whole one.
import { createHash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Log } from '../core/log.ts';
import type { Clock } from '../core/time/clock.ts';
import { secretFilesIn } from './yaml/interpolation.ts';

export interface WatchDependencies {
  /** The configuration file; the secret files that it names are watched with it. */
  file: string;
  /** Others that it depends on, such as `.env`. */
  beside: readonly string[];
  clock: Clock;
  log: Log;
  /** Called once for each change, never twice at a time. */
  changed(): Promise<void>;
}

export interface ConfigWatch {
  start(): void;
  /** Idempotent, safe before start; resolves when nothing is called any more. */
  stop(): Promise<void>;
}

/** Between two looks where nothing was told. */
const LOOK_MS = 1_000;
/** How long contents must stand still. */
const SETTLE_MS = 300;
/** How long a file must be gone: some editors and tools remove it before they write it anew. */
const GONE_MS = 1_500;
const LARGEST_READ = 256 * 1_024;

export function watchConfig(dependencies: WatchDependencies): ConfigWatch {
  const { clock, log } = dependencies;
  const stopping = new AbortController();
  let nudge = new AbortController();
  const folders = watchFolders(() => nudge.abort());
  let running: Promise<void> | undefined;

  const pause = (ms: number): Promise<void> => clock.sleep(ms, stopping.signal);

  /** A look may come early, by what a folder tells; a nudge that came during a look is not lost. */
  async function untilNextLook(): Promise<void> {
    const either = AbortSignal.any([stopping.signal, nudge.signal]);
    await clock.sleep(LOOK_MS, either).catch(() => undefined);
    nudge = new AbortController();
  }

  async function settled(first: Look): Promise<Look> {
    for (let last = first; ; ) {
      await pause(last.gone ? GONE_MS : SETTLE_MS);
      const next = await lookAt(dependencies);
      if (next.contents === last.contents) return next;
      last = next;
    }
  }

  async function loop(): Promise<void> {
    // Nothing is known at first: what changed between the first load and now is found by loading once more.
    let known = '';
    while (!stopping.signal.aborted) {
      const look = await lookAt(dependencies);
      folders.watch(look.files);
      if (look.contents !== known) {
        known = (await settled(look)).contents;
        await dependencies.changed();
      } else await untilNextLook();
    }
  }

  return {
    start() {
      running ??= loop().catch((error) => {
        if (!stopping.signal.aborted) log.error({ err: error }, 'configuration is not watched any more');
      });
    },
    async stop() {
      stopping.abort();
      await running;
      folders.watch([]);
    },
  };
}

interface Look {
  files: string[];
  contents: string;
  /** The configuration file is not there. */
  gone: boolean;
}

async function lookAt({ file, beside }: Pick<WatchDependencies, 'file' | 'beside'>): Promise<Look> {
  const main = await contentsOf(file);
  const files = [...beside, ...secretFilesIn(main?.toString() ?? '')];
  const all = [main, ...(await Promise.all(files.map(contentsOf)))];
  const contents = all.map((each) => (each === undefined ? 'gone' : digestOf(each))).join(' ');
  return { files: [file, ...files], contents, gone: main === undefined };
}

export const digestOf = (contents: Buffer | string): string =>
  createHash('sha256').update(contents).digest('hex');

/** A file too large to be one of ours stands for itself by its size and time. */
async function contentsOf(file: string): Promise<Buffer | undefined> {
  try {
    const { size, mtimeMs } = await statFile(file);
    return size > LARGEST_READ ? Buffer.from(`${size} ${mtimeMs}`) : await readFile(file);
  } catch {
    return undefined;
  }
}

/** What is not a file may never end, and is not read. */
async function statFile(file: string) {
  const found = await stat(file);
  if (!found.isFile()) throw new Error('not a file');
  return found;
}

/** Watches the folders of files, as many as can be; tells when something in them may have changed. */
function watchFolders(told: () => void) {
  const watchers = new Map<string, FSWatcher>();
  let names = new Set<string>();

  function open(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, (event, name) => {
        // A rename may put a link in place, under whatever name; other files of the folder may change often.
        if (event === 'rename' || name === null || names.has(name)) told();
      });
      watcher.on('error', () => close(folder));
      watchers.set(folder, watcher);
    } catch {
      // Without it the slow look remains.
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
