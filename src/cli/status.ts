// roadbook status: health of each job, freshness of each table, outbox and quarantine counts, every daemon.
import type { Command } from 'commander';
import type { App } from '../app/app.ts';
import { firstNames } from '../core/text/first-names.ts';
import { formatDuration } from '../core/time/durations.ts';
import { shownTick } from '../schedule/ticks.ts';
import { rejectionOf } from '../status/health/config-error.ts';
import { type StatusDocument, type StatusFacts, statusFacts } from '../status/health/status-document.ts';
import { readConfigState } from '../warehouse/control/config-state.ts';
import { defineCommand, print, withApp } from './command.ts';
import { coloured, textTable } from './output/text-table.ts';
import { VERSION } from './version.ts';

export const define = (command: Command): Command =>
  defineCommand(command, {
    action: withApp(
      async (app, _args, { json }) => {
        const { document } = await readStatus(app);
        print(json ? JSON.stringify(document, null, 2) : show(document, app.clock.now()));
      },
      { tolerant: true },
    ),
  });

export async function readStatus(app: App): Promise<StatusFacts> {
  const engine = await app.warehouse();
  const state = await readConfigState(engine);
  // An invalid file must not hide the status of a daemon that runs with its last valid configuration.
  if (app.loaded.error !== null && state === undefined) throw app.loaded.error;
  return statusFacts({
    version: VERSION,
    config: app.loaded.config,
    configState: state,
    configLoadedAt: state?.loaded_at ?? app.loaded.loadedAt,
    configError: app.loaded.error?.message ?? (await rejectionOf(app.loaded.file, state)),
    jobs: app.jobs,
    engine,
    clock: app.clock,
    session: { state: 'none', expires_at: null },
    queueFacts: app.dispatcher.facts,
  });
}

const MAX_NAMED = 10;

function deadlineLine({ deadline }: StatusDocument): string[] {
  if (deadline === undefined) return [];
  const { at, missed, confirmed, open } = deadline;
  if (missed.length === 0)
    return [`Deadline ${at}: of the plans that start tomorrow, ${confirmed} are confirmed and ${open} are open`];
  const named = firstNames(missed, MAX_NAMED);
  return [`Deadline ${at}: missed by ${missed.length} ${missed.length === 1 ? 'plan' : 'plans'}: ${named}`];
}

/** Shows the age of each heartbeat: the other columns of a silent daemon may be out of date. */
function daemonLines({ daemons, queue }: StatusDocument, nowMs: number): string[] {
  const rows = daemons.map((daemon) => [
    `${daemon.host} ${daemon.pid}`,
    coloured(daemon.state),
    daemon.version,
    daemon.started_at,
    `${formatDuration(Math.max(0, nowMs - Date.parse(daemon.heartbeat_at)))} ago`,
    daemon.slices_per_minute,
  ]);
  const head = ['daemon', 'state', 'version', 'since', 'last heartbeat', 'slices per minute'];
  return [
    ...(queue === undefined ? [] : [`Queue: ${queue.waiting} waiting, ${queue.active} active, ${queue.dead} dead`]),
    '',
    ...(daemons.length === 0 ? [] : [textTable(head, rows)]),
  ];
}

/** First of all, because every figure below is of the past then. */
function noDaemonLine({ daemons }: StatusDocument): string[] {
  if (daemons.some(({ state }) => state === 'alive')) return [];
  const what = daemons.length === 0 ? 'No daemon is running' : 'No daemon is alive';
  return [`${what}: nothing is pulled or pushed. Try: npx roadbook start`];
}

function show(document: StatusDocument, nowMs: number): string {
  const jobs = document.jobs.map((job) => [
    job.name,
    coloured(job.health),
    job.last_run === null ? 'never' : `${coloured(job.last_run.status)} ${job.last_run.started_at}`,
    shownTick(job.next_tick_at, job.timezone),
    job.last_run?.error ?? '',
  ]);
  const tables = document.tables.map((table) => [
    table.name,
    table.rows,
    table.last_change_at,
    table.freshness_seconds === null ? 'never read' : `${formatDuration(table.freshness_seconds * 1_000)} ago`,
  ]);
  const outbox = Object.entries(document.outbox).map(([state, count]) => `${count} ${state}`);
  return [
    `Health: ${coloured(document.health)}`,
    ...noDaemonLine(document),
    ...document.reasons
      .filter(({ code }) => code !== 'no_daemon')
      .map(({ health, text, hint }) => `  ${coloured(health)}: ${text}${hint === null ? '' : `. Try: ${hint}`}`),
    '',
    textTable(['job', 'health', 'last run', 'next tick', 'error'], jobs),
    '',
    textTable(['table', 'rows', 'last change', 'read'], tables),
    '',
    `Outbox: ${outbox.join(', ')}`,
    ...deadlineLine(document),
    `Quarantine: ${document.quarantine}`,
    ...daemonLines(document, nowMs),
  ].join('\n');
}
