// The configuration as one zod schema. Input: snake_case keys, as users write them. Output: the settings of each section,
// as the code names them. Each default is stated once, here or in its section.
import { z } from 'zod';
import { formatDuration } from '../core/time/durations.ts';
import { type ErpFeed, erpSection } from './sections/erp.ts';
import { type JobDeclaration, jobsSection } from './sections/jobs.ts';
import { type PersonalColumn, type PrivacySettings, privacySection } from './sections/privacy.ts';
import { section, setting } from './sections/section.ts';
import { serviceSection } from './sections/service.ts';
import { alertsSection, statusSection } from './sections/status.ts';
import { proofSection, stopsSection } from './sections/stops.ts';
import { timeZone } from './sections/time-zone.ts';
import { scaleSection, type WarehouseSettings, warehouseSection } from './sections/warehouse.ts';

/** Declarations of other layers. The configuration does not import these layers. */
export interface ConfigDeclarations {
  jobs: Record<string, JobDeclaration>;
  /** Settings of each warehouse engine by name, without the `engine` key. */
  engines: Record<string, z.ZodObject>;
  /** Names of the engines whose database can hold a queue. */
  queueEngines: readonly string[];
  /** The personal columns, by `table.column`. */
  personal: Record<string, PersonalColumn>;
  /** What is wrong with a feed beyond its schema; `path` leads from the feed to the setting. */
  feedIssues(kind: string, feed: ErpFeed): { path: string[]; message: string; hint: string }[];
}

export interface JobSettings {
  /** Whether the scheduler runs the job. */
  enabled: boolean;
  schedule: string;
  /** IANA zone of the schedule. */
  timezone: string;
  /** The job's own options, as its schema gives them. */
  options: Record<string, unknown>;
  /** The file has an entry for the job. */
  isListed?: boolean;
}

export interface Config {
  timezone: string;
  service: z.output<typeof serviceSection>;
  warehouse: WarehouseSettings;
  /** The feeds, by kind. */
  erp: z.output<typeof erpSection>;
  privacy: PrivacySettings;
  /** Which evidence an executed stop must have. */
  proof: z.output<typeof proofSection>;
  stops: z.output<typeof stopsSection>;
  scale: z.output<typeof scaleSection>;
  status: z.output<typeof statusSection>;
  alerts: z.output<typeof alertsSection>;
  /** Every declared job, whether the file lists it or not. */
  jobs: Record<string, JobSettings>;
}

export function configSchema(dependencies: ConfigDeclarations): z.ZodType<Config> {
  const settings = z.strictObject({
    timezone: setting(timeZone, 'America/Sao_Paulo', 'Time zone of schedules and of local days'),
    service: serviceSection,
    warehouse: warehouseSection(dependencies.engines),
    erp: erpSection,
    privacy: privacySection(dependencies.personal),
    proof: proofSection,
    stops: stopsSection,
    scale: scaleSection,
    status: statusSection,
    alerts: alertsSection,
    jobs: jobsSection(dependencies.jobs),
  });
  const file = settings.superRefine(({ scale, warehouse, service, jobs, erp }, context) => {
    for (const [kind, feed] of Object.entries(erp)) {
      // A feed with another issue is undefined.
      const found = feed === undefined ? [] : dependencies.feedIssues(kind, feed);
      for (const { path, message, hint } of found)
        context.addIssue({ code: 'custom', path: ['erp', kind, ...path], message, params: { hint } });
    }
    for (const issue of settleIssues(jobs, service.timeoutMs)) context.addIssue(issue);
    if (scale.dispatcher !== 'pg-boss' || dependencies.queueEngines.includes(warehouse.engine)) return;
    context.addIssue({
      code: 'custom',
      path: ['scale', 'dispatcher'],
      message: 'pg-boss needs a warehouse that several daemons can share',
      params: { hint: 'set `warehouse.engine: postgres` with its `url`, or use `dispatcher: local`' },
    });
  });
  return section(file).transform((value) => ({ ...value, jobs: withTimezone(value.jobs, value.timezone) }));
}

/** A request in flight must not count as absent, so `settle` of a push job must be longer than a request may take. */
function settleIssues(jobs: Record<string, Partial<JobSettings>>, timeoutMs: number) {
  return Object.entries(jobs).flatMap(([name, { options }]) => {
    // `options` is undefined if the job has another issue.
    const settleMs = name.startsWith('push-') ? options?.settle : undefined;
    if (typeof settleMs !== 'number' || !(settleMs <= timeoutMs)) return [];
    const [settle, timeout] = [formatDuration(settleMs), formatDuration(timeoutMs)];
    return {
      code: 'custom' as const,
      path: ['jobs', name, 'settle'],
      message: `\`settle\` of a push job (${settle}) must be longer than \`service.timeout\` (${timeout})`,
      params: { orAt: ['service', 'timeout'], hint: 'raise `settle`, or lower `service.timeout`' },
    };
  });
}

/** A job without its own time zone uses the `timezone` of the file. */
function withTimezone(jobs: Record<string, Partial<JobSettings>>, timezone: string): Config['jobs'] {
  const entries = Object.entries(jobs).map(([name, job]) => [name, { ...job, timezone: job.timezone ?? timezone }]);
  return Object.fromEntries(entries);
}
