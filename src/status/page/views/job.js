// @ts-check
// One job: how it stands, its last runs as a grid of equal cells, durations, rows, schedule, options, tables and log; and
// a text about its failure for a ticket.
import { createRef } from 'preact';
import { href } from '../address.js';
import { html } from '../html.js';
import { useData, usePage } from '../parts/page.js';
import { Strip } from '../parts/sparks.js';
import { Empty, Facts, Loaded, Pill, RunError, Time } from '../parts/words.js';
import { errorMeaning, meaningOf, rich, t, word } from '../texts.js';
import { count, dayAndTime, fullTime, span, toneOf } from '../words.js';
import { Options } from './config.js';
import { Durations, ItemsLink, JobButtons, LastRun, RowsWritten, shownHealth } from './overview.js';
import { Log, RunTable } from './runs.js';

export function JobView({ args: [name = ''] }) {
  const { overview: status } = usePage();
  const job = status?.jobs.find((each) => each.name === name);
  return html`<p class="back"><a href="#/overview">← ${t('view.overview')}</a></p>
    <h1 tabindex="-1"><span dir="auto">${name}</span>${' '}${job && html`<${Pill} group="health" state=${shownHealth(job)} />`}</h1>
    ${
      status === undefined
        ? html`<p class="hint" role="status">${t('page.loading')}</p>`
        : job === undefined
          ? html`<${Empty}>${t('job.none')}<//>`
          : html`<${Job} job=${job} status=${status} />`
    }`;
}

function Job({ job, status }) {
  const { ask, note } = usePage();
  const details = useData(`jobs/${encodeURIComponent(job.name)}`);
  const latest = useData(job.last_run === null ? undefined : 'run', { id: job.last_run?.run_id });
  function incident() {
    const area = createRef();
    ask({
      title: t('incident.title'),
      text: html`<p>${t('incident.text')}</p><textarea class="incident" ref=${area} readonly rows="12" aria-label=${t('incident.title')}>${incidentText(job, status)}</textarea>`,
      confirm: t('incident.copy'),
      // Browsers have no `navigator.clipboard` where the page comes from another machine by plain http.
      async action() {
        area.current?.focus();
        area.current?.select();
        if (!document.execCommand('copy')) throw Object.assign(new Error('not copied'), { code: 'not_copied' });
        note(t('incident.copied'));
      },
    });
  }
  return html`<p class="lead">${meaningOf(job)}<${ItemsLink} job=${job} /></p>
    <div class="buttons">${job.enabled ? html`<${JobButtons} job=${job} />` : null}
      <button type="button" class="quiet" aria-haspopup="dialog" onClick=${incident}>${t('incident.button')}</button></div>
    ${
      job.last_end?.error == null
        ? null
        : html`<section class="banner ${toneOf(job.last_end.status)}" aria-label=${t('column.error')}>
      <${RunError} code=${job.error_code} error=${job.last_end.error} hint=${job.hint} /></section>`
    }
    <${Facts} facts=${[
      [t('job.failingSince'), job.failing_since && html`<${Time} at=${job.failing_since} />`],
      [t('job.inARow'), job.failing_since && count(job.failures_in_a_row)],
      [t('job.lastOk'), job.last_success_at === null ? t('time.never') : html`<${Time} at=${job.last_success_at} />`],
      [t('column.lastRun'), html`<${LastRun} run=${job.last_run} />`],
      [t('run.retry'), job.retry && html`<${Time} kind="until" at=${job.retry.at} />`],
      [t('column.nextTick'), job.next_tick_at === null ? '–' : html`<${Time} kind="until" at=${job.next_tick_at} />`],
      [
        t('column.schedule'),
        html`<code>${job.schedule}</code> <span class="faint" translate="no">${job.timezone}</span>`,
      ],
      [t('column.duration'), html`<${Durations} job=${job} />`],
      [t('column.rows'), html`<${RowsWritten} job=${job} />`],
    ]} />
    <${Loaded} of=${details}>${(data) => html`<${Details} ...${data} />`}<//>
    <h2>${t('job.log')}</h2>
    ${job.last_run === null ? html`<${Empty}>${t('time.never')}<//>` : html`<${Loaded} of=${latest}>${(run) => html`<${Log} lines=${run.log} />`}<//>`}`;
}

const Details = ({ name, runs, tables, options }) => html`
  <h2>${t('job.history')}</h2>
  <${Strip} size="tall" label=${t('job.historyLabel', { n: runs.length })} cells=${runs.map(runCell)} />
  <details><summary>${t('job.runs', { n: runs.length })}</summary><${RunTable} runs=${runs.toReversed()} /></details>
  <p><a href=${href('runs', [], { job: name })}>${t('runs.all')}</a></p>
  <h2>${t('job.tables')}</h2>
  ${
    tables.length === 0
      ? html`<p class="hint">${t('job.noTables')}</p>`
      : html`<${Facts} facts=${tables.map((table) => [
          html`<code>${table.name}</code>`,
          html`${t('job.rows', { n: table.rows })} · ${table.read_at === null ? t('data.notRead') : rich('job.read', { when: html`<${Time} at=${table.read_at} />` })}`,
        ])} />`
  }
  <h2>${t('job.options')}</h2>
  <p><${Options} options=${options} /></p>`;

function runCell(run) {
  const { seconds } = run;
  const words = [dayAndTime(run.started_at), word('state', run.status), seconds === null ? null : span(seconds)];
  return {
    key: run.run_id,
    tone: toneOf(run.status),
    words: words.filter(Boolean).join(' · '),
    href: href('runs', [run.run_id]),
  };
}

/** Plain lines that can be pasted into a ticket. */
function incidentText(job, { version, timezone }) {
  const { last_run: last } = job;
  const time = (/** @type {string} */ at) => `${fullTime(at)} (${timezone})`;
  const [what, todo] = errorMeaning(job.error_code) ?? [];
  const joined = (/** @type {unknown[]} */ ...texts) => texts.filter(Boolean).join(' ');
  const lines = [
    [t('column.job'), `${job.name}: ${word('health', shownHealth(job))}`],
    [t('column.error'), joined(what, job.last_end?.error)],
    [t('incident.hint'), joined(todo, job.hint)],
    [t('column.lastRun'), last && `${last.run_id}, ${word('state', last.status)}, ${time(last.started_at)}`],
    [t('job.failingSince'), job.failing_since && time(job.failing_since)],
    [t('job.inARow'), job.failing_since && job.failures_in_a_row],
    [t('job.lastOk'), job.last_success_at === null ? t('time.never') : time(job.last_success_at)],
    [t('column.schedule'), `${job.schedule} (${job.timezone})`],
    ['Roadbook', version],
    [t('incident.link'), location.href],
  ];
  return lines
    .filter(([, value]) => value)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}
