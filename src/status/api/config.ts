// The running configuration without its secrets, the last rejected edit, the coming runs of each job, and the latest
// actions of people.
import { Hono } from 'hono';
import { z } from 'zod';
import { fileName } from '../../config/changes.ts';
import { publicConfig } from '../../config/secrets.ts';
import { formatDuration } from '../../core/time/durations.ts';
import type { NamedJob } from '../../sync/job.ts';
import { newestActions } from '../../warehouse/control/audit.ts';
import { readControls } from '../../warehouse/control/job-controls.ts';
import { schedulePreview } from '../capacity/schedule-preview.ts';
import type { StatusServerDependencies } from '../server/dependencies.ts';

const MOST_ACTIONS = 50;

export function config({ engine, clock, running, rejectedEdit, redactor, jobs }: StatusServerDependencies): Hono {
  const app = new Hono();
  app.get('/config', async (c) => {
    const { file, config: current, loadedAt } = running();
    const error = await rejectedEdit();
    const controls = await readControls(engine);
    const schedules = Object.entries(current.jobs).map(([name, { enabled, schedule, timezone }]) => {
      const paused = controls.get(name)?.paused ?? false;
      const days = enabled && !paused ? schedulePreview({ cron: schedule, timezone }, clock.now()) : [];
      return { name, enabled, paused, schedule, timezone, days };
    });
    return c.json({
      file,
      loaded_at: loadedAt,
      error: error === null ? null : redactor.redact(error),
      config: asWritten(publicConfig(current), durationsOf(jobs)),
      schedules,
      actions: await newestActions(engine, MOST_ACTIONS),
    });
  });
  return app;
}

type Described = Pick<z.core.JSONSchema.BaseSchema, 'title' | 'properties'>;

/** The job options that are durations: `lookback`, or `retention.event` inside another option. */
export function durationsOf(jobs: readonly Pick<NamedJob, 'options'>[]): ReadonlySet<string> {
  const durationsIn = ({ properties = {} }: Described, before: string): string[] =>
    Object.entries(properties as Record<string, Described>).flatMap(([name, option]) =>
      option.title === 'duration' ? [before + name] : durationsIn(option, `${name}.`),
    );
  return new Set(jobs.flatMap(({ options }) => durationsIn(z.toJSONSchema(options, { io: 'input' }), '')));
}

/** The configuration as people write it in the file: snake_case names, durations as `6h`. */
export function asWritten(value: unknown, durations: ReadonlySet<string>, key = '', outer = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => asWritten(item, durations));
  if (typeof value === 'object' && value !== null) {
    const { isListed: _, ...settings } = value as Record<string, unknown>;
    const entries = Object.entries(settings);
    return Object.fromEntries(entries.map(([name, inner]) => [fileName(name), asWritten(inner, durations, name, key)]));
  }
  const isDuration = key.endsWith('Ms') || durations.has(key) || durations.has(`${outer}.${key}`);
  return typeof value === 'number' && isDuration ? formatDuration(value).replaceAll(' ', '') : value;
}
