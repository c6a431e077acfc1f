// @ts-check
// The first view: the overall health with its reasons, one row for each job, one row for each daemon.
import { href } from '../address.js';
import { html } from '../html.js';
import { ActionButton } from '../parts/action.js';
import { usePage } from '../parts/page.js';
import { BarSpark, LineSpark } from '../parts/sparks.js';
import { Table } from '../parts/table.js';
import { Card, Faint, Foreign, Pill, RunError, Said, Time } from '../parts/words.js';
import { FOR_A_PERSON, linesOf, shownOverall } from '../reasons.js';
import { hasWord, meaningOf, rich, t, word } from '../texts.js';
import { count, runSeconds, shortCount, span, toneOf } from '../words.js';

/** The worst health first. */
const WORST_FIRST = ['failing', 'late', 'warning', 'never ran', 'ok', 'paused'];

export function Overview() {
  const { overview: status, isOutdated } = usePage();
  if (status === undefined)
    return html`<h1 tabindex="-1">${t('view.overview')}</h1><p class="hint" role="status">${t('page.loading')}</p>`;
  const jobs = status.jobs.toSorted((a, b) => WORST_FIRST.indexOf(a.health) - WORST_FIRST.indexOf(b.health));
  return html`
    <h1 class="unseen" tabindex="-1">${t('view.overview')}</h1>
    <${Hero} status=${status} isOutdated=${isOutdated} />
    <${Cards} status=${status} />
    <h2>${t('overview.jobs')}</h2>
    <${Table} caption=${t('overview.jobsCaption')} columns=${jobColumns()} empty=${t('overview.noJobs')}
      rows=${jobs.map((job) => jobRow(job, status))} />
    <h2 id="daemons">${t('overview.daemons')}</h2>
    ${
      status.queue === undefined
        ? null
        : html`<p class=${status.queue.dead > 0 ? 'wrong' : 'hint'}>${t('overview.queue', { n: status.queue.waiting, active: status.queue.active, dead: status.queue.dead })}</p>`
    }
    <${Table} caption=${t('overview.daemonsCaption')} columns=${daemonColumns()} empty=${t('overview.noDaemons')}
      rows=${status.daemons.map(daemonRow)} />`;
}

function Hero({ status, isOutdated }) {
  const lines = linesOf(status);
  return html`<section class="hero ${isOutdated ? 'still' : toneOf(status.health)}" aria-label=${t('overview.health')}>
    <p class="hero-word" data-health=${status.health}><span class="mark" aria-hidden="true"></span>${word('health', shownOverall(status))}</p>
    ${
      lines.length === 0
        ? html`<p class="hero-sentence">${t('reason.none')}</p>`
        : html`<ul class="hero-reasons">${lines.map((line) => html`<${ReasonLine} key=${line.code} line=${line} attention=${status.attention} />`)}</ul>`
    }
  </section>`;
}

/** A reason with a link to its place, then the jobs, why the pushes need a person, or what the service answers. */
function ReasonLine({ line: { code, tone, n, texts, place, jobs }, attention }) {
  const key = /** @type {any} */ (`reason.${code}`);
  const words = hasWord('reason', code) ? t(key, { n }) : html`<${Said}>${texts[0]}<//>`;
  return html`<li class=${tone}>
    ${jobs.length > 0 ? words : html`<a href=${place}>${words}</a>`}
    ${code === 'push_person' ? `: ${attention.map(({ reason }) => word('attention', reason)).join('; ')}` : null}
    ${code.startsWith('service_') ? texts.map((text) => html`<br /><${Said}>${text}<//>`) : null}
    ${jobs.map((name, index) => html`${index === 0 ? ': ' : ' '}<a key=${name} href=${href('jobs', [name])}>${name}</a>`)}
  </li>`;
}

function Cards({ status }) {
  const { outbox, attention, quarantine, session, tables, config } = status;
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const lines = linesOf(status).filter(({ code }) => FOR_A_PERSON.includes(code));
  const items = lines.reduce((sum, { n }) => sum + n, 0);
  const needs = attention.map(({ reason }) => word('attention', reason));
  const words = lines.flatMap(({ code, n }) =>
    code === 'push_person' ? needs : t(/** @type {any} */ (`reason.${code}`), { n }),
  );
  return html`<ul class="cards" aria-label=${t('overview.glance')}>
    <${Card} name=${t('card.person')} value=${count(items)} tone=${items > 0 ? 'bad' : ''} href=${lines[0]?.place ?? href('plans')}>
      ${words.length === 0 ? t('card.noPushes') : words.join('; ')}<//>
    <${Card} name=${t('card.unknown')} value=${count(outbox.unknown)} tone=${outbox.unknown > 0 ? 'late' : ''} href=${href('plans', [], { state: 'unknown' })}>
      ${t('card.unknownWords', { open: outbox.ready + outbox.sending, confirmed: shortCount(outbox.confirmed) })}<//>
    <${Card} name=${t('card.rejected')} value=${count(outbox.rejected)} tone=${outbox.rejected > 0 ? 'bad' : ''} href=${href('plans', [], { state: 'rejected' })}>
      ${t('card.cancelled', { n: outbox.cancelled })}<//>
    <${Card} name=${t('card.quarantine')} value=${count(quarantine)} tone=${quarantine > 0 ? 'late' : ''} href=${href('data', ['quarantine'])}>
      ${t('card.invalid', { n: quarantine })}<//>
    <${Card} name=${t('card.rows')} value=${shortCount(rows)} href=${href('data')}>${t('card.tables', { n: tables.length })}<//>
    <${Card} name=${t('card.session')} value=${word('session', session.state)} tone=${session.state === 'rejected' ? 'bad' : ''}>
      ${session.expires_at === null ? t('card.noToken') : rich('card.renews', { when: html`<${Time} kind="until" at=${session.expires_at} />` })}<//>
    <${Card} name=${t('card.config')} value=${config.error === null ? t('card.inEffect') : t('card.configRejected')} tone=${config.error === null ? '' : 'bad'} href=${href('config')}>
      ${rich('card.loaded', { when: html`<${Time} at=${config.loaded_at} />` })}<//>
  </ul>`;
}

const jobColumns = () => [
  { name: t('column.job'), class: 'job' },
  { name: t('column.health'), class: 'health' },
  { name: t('column.lastRun'), class: 'last' },
  { name: t('column.nextTick') },
  { name: t('column.read') },
  { name: t('column.duration'), class: 'picture' },
  { name: t('column.rows'), class: 'picture' },
  { name: t('column.actions'), unseen: true, class: 'actions' },
];

function jobRow(job, { tables }) {
  const { name } = job;
  return {
    key: name,
    cells: [
      html`<a class="name" href=${href('jobs', [name])}>${name}</a><span class="meaning">${meaningOf(job)}</span>`,
      html`<${Pill} group="health" state=${shownHealth(job)} /><${ItemsLink} job=${job} />`,
      html`<${LastRun} run=${job.last_run} />`,
      job.next_tick_at === null ? html`<${Faint}>–<//>` : html`<${Time} kind="until" at=${job.next_tick_at} />`,
      html`<${Freshness} job=${job} tables=${tables} />`,
      html`<${Durations} job=${job} />`,
      html`<${RowsWritten} job=${job} />`,
      job.enabled ? html`<${JobButtons} job=${job} />` : null,
    ],
    below: job.last_end?.error == null ? undefined : html`<${LastError} job=${job} />`,
  };
}

/** A push job without a feed is not ok in the sense that its items are pushed: it has none. */
export function shownHealth({ enabled, health, is_without_feed }) {
  if (!enabled) return 'disabled';
  return is_without_feed && ['ok', 'never ran'].includes(health) ? 'no feed' : health;
}

/** A push job has a warning because of single items. */
export const ItemsLink = ({ job: { name, health } }) =>
  health === 'warning' && name.startsWith('push-')
    ? html`${' '}<a class="meaning" href=${href('plans', [], { kind: pushedKind(name) })}>${t('overview.items')}</a>`
    : null;

export const pushedKind = (/** @type {string} */ job) => job.slice('push-'.length).replaceAll('-', '_');

/** The last error with a hint; since when the job fails, how often in a row, and its last success. */
function LastError({ job }) {
  const { last_end: last, failing_since: since, last_success_at: success } = job;
  return html`<p class="trouble ${toneOf(last.status)}">
    <${RunError} code=${job.error_code} error=${last.error} hint=${job.hint} />
    ${
      since === null || job.failures_in_a_row === 0
        ? null
        : html`<span class="trouble-facts">${rich('overview.failingSince', { n: job.failures_in_a_row, since: html`<${Time} at=${since} />` })}${' '}
            ${success === null ? t('overview.neverOk') : rich('overview.lastOk', { when: html`<${Time} at=${success} />` })}</span>`
    }</p>`;
}

export const JobButtons = ({ job: { name, paused } }) => {
  const [pause, resume] = [`jobs/${name}/pause`, `jobs/${name}/resume`];
  return html`<span class="buttons">
    <${ActionButton} path="jobs/${name}/run" label=${t('action.labelled', { action: t('action.run'), on: name })}>${t('action.run')}<//>
    ${
      paused
        ? html`<${ActionButton} key="resume" path=${resume} undo=${{ path: pause }} label=${t('action.labelled', { action: t('action.resume'), on: name })}>${t('action.resume')}<//>`
        : html`<${ActionButton} key="pause" path=${pause} undo=${{ path: resume }} label=${t('action.labelled', { action: t('action.pause'), on: name })}>${t('action.pause')}<//>`
    }
  </span>`;
};

export function LastRun({ run }) {
  if (run === null) return html`<${Faint}>${t('time.never')}<//>`;
  const seconds = runSeconds(run);
  return html`<span class="line"><a class="run-word ${toneOf(run.status)}" href=${href('runs', [run.run_id])}>${word('state', run.status)}</a>${' '}
      <${Time} at=${run.started_at} /></span>
    ${seconds === null ? null : html`<span class="meaning">${t('run.took', { span: span(seconds) })}</span>`}`;
}

/** The oldest read of the tables that the job fills. */
function Freshness({ job, tables }) {
  const read = tables.filter(({ name }) => job.tables.includes(name)).map(({ read_at }) => read_at);
  if (read.length === 0) return html`<${Faint}>–<//>`;
  return read.includes(null) ? html`<${Faint}>${t('data.notRead')}<//>` : html`<${Time} at=${read.toSorted()[0]} />`;
}

export function Durations({ job: { name, recent } }) {
  const ended = recent.filter(({ seconds }) => seconds !== null).map(({ seconds }) => seconds);
  const words =
    ended.length === 0 ? '–' : t('spark.durations', { latest: span(ended.at(-1)), longest: span(Math.max(...ended)) });
  return html`<${LineSpark} label="${name}: ${words}" values=${ended} />`;
}

export function RowsWritten({ job: { name, recent } }) {
  const sum = recent.reduce((all, { rows }) => all + rows, 0);
  return html`<${BarSpark} label="${name}: ${t('spark.rows', { n: recent.length, rows: sum })}"
    values=${recent.map(({ rows, status }) => ({ value: rows, tone: status === 'ok' ? 'plain' : toneOf(status) }))} />`;
}

const daemonColumns = () => [
  { name: t('column.daemon'), class: 'job' },
  { name: t('column.state'), class: 'health' },
  { name: t('column.version') },
  { name: t('column.since') },
  { name: t('column.heartbeat') },
  { name: t('column.slices') },
];

/** The rate of a silent daemon is out of date, so the server sends null for it. */
const daemonRow = (daemon) => ({
  key: `${daemon.host} ${daemon.pid} ${daemon.started_at}`,
  cells: [
    html`<${Foreign} class="name">${daemon.host}<//><span class="meaning">${t('overview.process', { pid: String(daemon.pid) })}</span>`,
    html`<${Pill} state=${daemon.state} />`,
    daemon.version,
    html`<${Time} at=${daemon.started_at} />`,
    html`<${Time} at=${daemon.heartbeat_at} />`,
    daemon.slices_per_minute === null ? html`<${Faint}>${t('state.unknown')}<//>` : count(daemon.slices_per_minute),
  ],
});
