// The running daemon and its configuration file: an edit is taken over within two seconds, SIGHUP asks for it at once.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { App } from '../app/app.ts';
import { type ConfigWatch, digestOf, watchConfig } from '../config/watch.ts';
import { isoInstant } from '../core/time/clock.ts';
import { createReload } from '../schedule/reload.ts';
import { configState, keptSchedules } from '../warehouse/control/config-state.ts';
import type { Engine } from '../warehouse/engine.ts';
import { enabledJobs } from './named-job.ts';

/** `takeOver` is called after each edit that was right, with what changed. */
export function followEdits(app: App, engine: Engine, takeOver: (changed: string[]) => void): ConfigWatch {
  const { clock, log } = app;
  const { file } = app.loaded;
  const state = configState(engine);
  const reload = createReload({
    log,
    async apply() {
      const changed = await app.reload();
      if (changed.length > 0) takeOver(changed);
      return changed;
    },
    async remember(refusal) {
      const at = isoInstant(clock.now());
      const digest = digestOf(await readFile(file).catch(() => ''));
      const refused = refusal && { at, error: app.redactor.redact(refusal.message), digest };
      const schedules = keptSchedules(enabledJobs(app), (await state.read())?.schedules ?? {}, at);
      await state.write({ loaded_at: app.loadedAt, refused, schedules }, clock.now());
    },
  });
  const watch = watchConfig({
    file,
    beside: [join(process.cwd(), '.env')],
    clock,
    log,
    changed: () => reload('edit'),
  });
  let isOver = false;
  let asked = Promise.resolve();
  // Never taken off: without a listener the signal would end a process that is draining.
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
