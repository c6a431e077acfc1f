// Applies edits of the configuration file to the running daemon: within two seconds, or at once after SIGHUP.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { App } from '../app/app.ts';
import { digestOf, watchConfig } from '../config/watch.ts';
import { isoInstant } from '../core/time/clock.ts';
import type { Loop } from '../core/time/loop.ts';
import { createReload } from '../schedule/reload.ts';
import { storeConfigState } from '../warehouse/control/config-state.ts';
import type { Engine } from '../warehouse/engine.ts';
import { enabledJobs } from './named-job.ts';

/** Calls `onChange` after each valid edit, with the changed settings. */
export function followEdits(app: App, engine: Engine, onChange: (changed: string[]) => void): Loop {
  const { clock, log } = app;
  const { file } = app.loaded;
  const reload = createReload({
    log,
    async apply() {
      const changed = await app.reload();
      if (changed.length > 0) onChange(changed);
      return changed;
    },
    async storeResult(error) {
      const at = isoInstant(clock.now());
      const digest = digestOf(await readFile(file).catch(() => ''));
      const edit = error && { at, error: app.redactor.redact(error.message), digest };
      await storeConfigState(
        engine,
        { loadedAt: app.loaded.loadedAt, rejected: edit, jobs: enabledJobs(app) },
        clock.now(),
      );
    },
  });
  const watch = watchConfig({ file, beside: [join(process.cwd(), '.env')], clock, changed: () => reload('edit') });
  let isOver = false;
  let asked = Promise.resolve();
  // The listener stays: without one, the signal would kill a process that is draining.
  process.on('SIGHUP', () => {
    if (!isOver) asked = reload('signal');
  });
  return {
    start: watch.start,
    async stop() {
      isOver = true;
      await Promise.all([watch.stop(), asked]);
    },
  };
}
