// @ts-check
// The running configuration, the rejected edit, the runs of the coming week, and the latest actions of people.
import { href } from '../address.js';
import { html } from '../html.js';
import { useData } from '../parts/page.js';
import { Table } from '../parts/table.js';
import { Faint, Foreign, Loaded, Said, Subject, Time } from '../parts/words.js';
import { rich, t, word } from '../texts.js';
import { clockTime, count, fullTime, weekday } from '../words.js';

export function ConfigView() {
  const config = useData('config', {}, { ignoresRuns: true });
  return html`<h1 tabindex="-1">${t('config.title')}</h1><${Loaded} of=${config}>${(data) => html`<${Config} ...${data} />`}<//>`;
}

const Config = ({ file, loaded_at, error, config, schedules, actions }) => html`
  ${
    error === null
      ? null
      : html`<section class="banner bad" aria-label=${t('config.rejected')}>
          <strong>${t('config.rejectedText')}</strong><pre class="rejection" tabindex="0" aria-label=${t('column.error')} lang="en">${error}</pre></section>`
  }
  <p class="lead">${rich('config.loaded', { file: html`<code>${file}</code>`, when: html`<${Time} at=${loaded_at} />` })}</p>
  <h2>${t('config.week')}</h2>
  <${Week} schedules=${schedules} />
  <h2>${t('config.options')}</h2>
  <${Table} caption=${t('config.options')} columns=${[{ name: t('column.job'), class: 'job' }, { name: t('column.options'), class: 'wide' }]}
    rows=${Object.entries(config.jobs).map(([name, { options }]) => ({ key: name, cells: [html`<${JobName} name=${name} />`, html`<${Options} options=${options} />`] }))}
    empty=${t('overview.noJobs')} />
  <h2>${t('config.rest')}</h2>
  <div class="sections">${Object.entries(config)
    .filter(([name]) => name !== 'jobs')
    .map(([name, value]) => html`<${Section} key=${name} name=${name} value=${value} />`)}</div>
  <h2>${t('config.actions')}</h2>
  <${Table} caption=${t('config.actionsCaption')} columns=${actionColumns()} rows=${actions.map(actionRow)} empty=${t('config.noActions')} />`;

const JobName = ({ name }) => html`<a class="name" href=${href('jobs', [name])}>${name}</a>`;

function Week({ schedules }) {
  const days = schedules.find((each) => each.days.length > 0)?.days ?? [];
  const columns = [
    { name: t('column.job'), class: 'job' },
    { name: t('column.schedule') },
    ...days.map(({ day }) => ({ name: weekday(day), class: 'day' })),
  ];
  const rows = schedules.map(({ name, enabled, paused, schedule, timezone, days: own }) => ({
    key: name,
    cells: [
      html`<${JobName} name=${name} />`,
      html`<code>${schedule}</code><span class="meaning" translate="no">${timezone}</span>`,
      ...(own.length > 0
        ? own.map(dayCell)
        : days.map(
            (_, n) => html`<${Faint}>${n > 0 ? '–' : word('health', enabled && paused ? 'paused' : 'disabled')}<//>`,
          )),
    ],
  }));
  return html`<${Table} caption=${t('config.weekCaption')} columns=${columns} rows=${rows} empty=${t('overview.noJobs')} />`;
}

/** Up to three runs are shown by their times, more by their number. */
function dayCell({ runs, more, first, clock_change }) {
  const words = runs === 0 ? '–' : runs <= 3 ? first.map(clockTime).join(' ') : `${count(runs)}${more ? '+' : ''} ×`;
  return html`${words}${clock_change ? html`<span class="tag" title=${t('config.clockChange')}>${t('config.clock')}</span>` : null}`;
}

export const Options = ({ options }) =>
  html`<span class="options">${leaves(options).map(([key, setting]) => html`<span key=${key}><code class="faint">${key}</code> <${Setting} value=${setting} /></span>`)}</span>`;

const Setting = ({ value }) =>
  value === null || value === '' ? html`<${Faint}>${t('config.notSet')}<//>` : html`<${Foreign}>${String(value)}<//>`;

const isFlat = (/** @type {unknown} */ value) => typeof value !== 'object' || value === null;

/** A section of the file as people write it; nested options are shown by their path. */
function Section({ name, value }) {
  const lines = isFlat(value) ? [[name, value]] : leaves(value);
  return html`<section class="panel"><h3><code>${name}</code></h3>
    ${
      lines.length === 0
        ? html`<p class="faint">${t('config.notSet')}</p>`
        : html`<dl class="settings">${lines.map(([key, setting]) => html`<div key=${key}><dt><code>${key}</code></dt><dd><${Setting} value=${setting} /></dd></div>`)}</dl>`
    }</section>`;
}

/** @type {(value: object, path?: string[]) => [string, any][]} */
const leaves = (value, path = []) =>
  Object.entries(value).flatMap(([key, inner]) => {
    if (inner === undefined) return [];
    if (Array.isArray(inner))
      return [[[...path, key].join('.'), inner.map((item) => (isFlat(item) ? item : JSON.stringify(item))).join(', ')]];
    return isFlat(inner) ? [[[...path, key].join('.'), inner]] : leaves(inner, [...path, key]);
  });

const actionColumns = () => [
  { name: t('column.when') },
  { name: t('column.action') },
  { name: t('column.on'), class: 'wide' },
  { name: t('column.from') },
  { name: t('column.outcome'), class: 'wide' },
];

const actionRow = ({ id, at, action, subject, by, outcome }) => ({
  key: String(id),
  cells: [
    fullTime(at),
    word('did', action),
    html`<${Subject}>${subject}<//>`,
    html`<${Foreign}>${by}<//>`,
    html`<${Said}>${outcome}<//>`,
  ],
});
