// @ts-check
// Whether yesterday is final, the last days, the tables with rows, freshness and verification, the invalid records in
// quarantine, and the dictionary.
import { useEffect, useRef, useState } from 'preact/hooks';
import { href, setFilter } from '../address.js';
import { html } from '../html.js';
import { ActionButton } from '../parts/action.js';
import { useData, usePage } from '../parts/page.js';
import { Pager, Table } from '../parts/table.js';
import { Choice, Empty, Faint, Foreign, Loaded, Pill, Said, Time } from '../parts/words.js';
import { currentLanguage, meaningOf, rich, t, word } from '../texts.js';
import { count, finePercent, weekday } from '../words.js';
import { Days, lastFinal, Yesterday } from './days.js';

/** The days change slowly, and their answer is large. */
const REFRESH = { everyMs: 60000, ignoresRuns: true };

/** `#/data`, or `#/data/quarantine` for the records in quarantine, which are far down. */
export function TablesView({ args: [section], query: { page = '0', table = '', word: find = '' } }) {
  const status = useData('days', {}, REFRESH);
  const quarantine = useData('quarantine', { page, table }, { ignoresRuns: true });
  const dictionary = useData('dictionary', {}, { isFixed: true });
  const zone = status.data?.timezone;
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  const { overview } = usePage();
  // What is above moves it down until it is loaded.
  const isWanted = section === 'quarantine' && [status.data, quarantine.data, overview].every(Boolean);
  useEffect(() => {
    if (!isWanted) return;
    heading.current?.scrollIntoView();
    heading.current?.focus({ preventScroll: true });
  }, [isWanted]);
  return html`<div class="day-head"><h1 tabindex="-1">${t('view.data')}</h1>
      ${zone && html`<span class="hint">${t('data.zone', { zone })}</span>`}</div>
    <${Loaded} of=${status}>${({ days, tables }) => html`<${Yesterday} days=${days} tables=${tables} isOld=${status.error !== undefined} /><h2>${t('days.title')}</h2><${Days} days=${days} />`}<//>
    <h2>${t('data.tables')}</h2>
    <${Loaded} of=${status}>${(data) => html`<${Table} caption=${t('data.tablesCaption')} columns=${columns()}
      rows=${data.tables.map((each) => tableRow(each, data, dictionary.data?.tables ?? []))} empty=${t('data.noTables')} />
      <p class="hint">${t('data.tablesHint')}</p>`}<//>
    <h2 ref=${heading} tabindex="-1">${t('data.quarantine')}</h2>
    <${Quarantine} records=${quarantine} table=${table} tables=${status.data?.tables ?? []} />
    <h2>${t('data.dictionary')}</h2>
    <div class="filters"><label><span>${t('data.find')}</span>
      <input type="search" defaultValue=${find} placeholder=${t('data.findWhat')} autocomplete="off"
        onInput=${(/** @type {any} */ event) => setFilter({ word: event.target.value }, { replace: true })} /></label></div>
    ${currentLanguage() === 'en' ? null : html`<p class="hint">${t('data.inEnglish')}</p>`}
    <${Loaded} of=${dictionary}>${(data) => html`<div class="dictionary">${data.tables.filter((each) => fits(each, find.toLowerCase())).map((each) => html`<${Entry} key=${each.name} entry=${each} />`)}</div>`}<//>`;
}

const columns = () => [
  { name: t('column.table'), class: 'job' },
  { name: t('column.rows'), class: 'number' },
  { name: t('column.fresh') },
  { name: t('column.read') },
  { name: t('column.lastChange') },
  { name: t('column.finalUntil'), class: 'short' },
  { name: t('column.verified') },
];

const when = (/** @type {string | null} */ at) =>
  at === null ? html`<${Faint}>${t('time.never')}<//>` : html`<${Time} at=${at} />`;

const tableRow = (each, status, dictionary) => {
  const entry = dictionary.find(({ name }) => name === each.name);
  return {
    key: each.name,
    cells: [
      html`<code class="name">${each.name}</code><span class="meaning">${entry && meaningOf(entry)}</span>`,
      count(each.rows),
      html`<${Pill} group="fresh" state=${each.verdict} />`,
      when(each.read_until),
      when(each.last_change_at),
      html`<${FinalUntil} table=${each} status=${status} />`,
      html`<${Verified} table=${each} />`,
    ],
  };
};

/** Parts of a fact table, such as stops of plans, are read by its job and final with it. A list has no days. */
function FinalUntil({ table, status: { days, tables } }) {
  const facts = new Set(days.flatMap((day) => day.tables.map(({ table_name }) => table_name)));
  const fact = tables.find(({ name, job }) => job === table.job && facts.has(name));
  if (fact === undefined) return html`<${Faint}>–<//>`;
  const last = lastFinal(days, fact.name);
  return last === undefined ? html`<${Faint}>${t('days.noneFinal')}<//>` : weekday(last);
}

const VERIFY_JOB = 'verify-warehouse';

/** What the last verification found. Drift is the share of differing rows among those of final days. */
function Verified({ table: { verified, drift_ratio } }) {
  const { overview } = usePage();
  if (verified === null) {
    const { next_tick_at: next = null, last_run: run = null } =
      overview?.jobs.find(({ name }) => name === VERIFY_JOB) ?? {};
    return html`<${Faint}>${t('verified.never')}<//>
      ${run?.status === 'ok' ? html`<span class="meaning">${rich('verified.nothing', { when: html`<${Time} at=${run.started_at} />` })}</span>` : null}
      <a class="meaning" href=${href('jobs', [VERIFY_JOB])}>${next === null ? VERIFY_JOB : rich('verified.next', { when: html`<${Time} kind="until" at=${next} />` })}</a>`;
  }
  const { verified_at, compared: n, differing } = verified;
  return html`<${Time} at=${verified_at} />
    <span class="meaning">${differing === 0 ? t('verified.equal', { n }) : t(drift_ratio === 0 ? 'verified.late' : 'verified.differ', { n, differing })}</span>
    ${drift_ratio > 0 ? html`<strong class="meaning wrong">${t('verified.drift', { share: finePercent(drift_ratio) })}</strong>` : null}`;
}

function Quarantine({ records, table, tables }) {
  const total = records.last?.total ?? 0;
  return html`${
    total === 0
      ? null
      : html`<p class="hint">${t('data.masked', { n: total })}</p>
        <div class="filters"><${Choice} label=${t('column.table')} value=${table} values=${tables.map(({ name }) => name)} onChoose=${(value) => setFilter({ table: value })} /></div>`
  }
    <${Loaded} of=${records}>${({
      rows,
    }) => html`<div class="records">${rows.map((record) => html`<${Record} key=${record.id} record=${record} />`)}</div>
      ${rows.length > 0 ? null : html`<${Empty}>${total === 0 ? t('data.noQuarantine') : t('data.noneOfTable')}<//>`}`}<//>
    <${Pager} of=${records} />`;
}

const Record = ({
  record: { id, table_name, record_key, reason, payload, times, last_seen_at, job },
}) => html`<details class="record">
  <summary><code><strong>${table_name}</strong></code>${' '}<${Foreign}>${record_key ?? ''}<//><${Said} class="reason">${reason}<//></summary>
  <p class="faint">${rich('data.readTimes', { n: times, job: html`<code>${job}</code>`, when: html`<${Time} at=${last_seen_at} />` })}</p>
  <pre dir="auto" tabindex="0" aria-label=${t('data.maskedRecord')}>${JSON.stringify(payload, null, 2)}</pre>
  <p class="buttons"><${ActionButton} path="quarantine/retry" body=${{ id }}>${t('action.retry')}<//></p>
</details>`;

const fits = ({ name, columns: own }, /** @type {string} */ find) =>
  find === '' || name.includes(find) || own.some((column) => column.name.includes(find));

/** The columns are built when they are opened: those of all tables at once would be slow on an old machine. */
function Entry({ entry: { name, kind, meaning, call, columns: own } }) {
  const [isOpen, setOpen] = useState(false);
  const key = own
    .filter(({ is_key }) => is_key)
    .map((column) => column.name)
    .join(', ');
  return html`<details onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}>
    <summary><code><strong>${name}</strong></code><span class="reason">${meaningOf({ name, meaning })}</span></summary>
    <p class="faint">${word('tableKind', kind)}${call === null ? null : html` · <code>${call}</code>`} · ${t('data.key')}: <code>${key}</code></p>
    ${
      isOpen
        ? html`<${Table} caption=${t('data.columnsOf', { table: name })} columns=${[{ name: t('column.column') }, { name: t('column.type') }, { name: t('column.source') }, { name: t('column.meaning'), class: 'wide' }]}
      rows=${own.map(columnRow)} empty="–" />`
        : null
    }
  </details>`;
}

const columnRow = (column) => ({
  key: column.name,
  cells: [
    html`<code>${column.name}</code>`,
    column.type,
    column.source === null ? null : html`<code>${column.source}</code>`,
    html`<span lang="en">${column.meaning}</span>${column.is_personal ? html`<span class="tag">${t('data.personal')}</span>` : null}`,
  ],
});
