// @ts-check
// The push board: entries that need a person first, filters, actions on many entries, and the deadline for tomorrow.
import { useEffect, useRef } from 'preact/hooks';
import { entryHref, href, setFilter } from '../address.js';
import { html } from '../html.js';
import { useData, usePage } from '../parts/page.js';
import { Pager, Table } from '../parts/table.js';
import { Choice, EntryPills, Foreign, Loaded, Said, Time } from '../parts/words.js';
import { FOR_A_PERSON, linesOf } from '../reasons.js';
import { hasWord, rich, t, word } from '../texts.js';
import { count, dayAndTime, toneOf } from '../words.js';
import { PlanStory } from './plan.js';

const STATES = ['unknown', 'sending', 'ready', 'rejected', 'partial', 'differs', 'confirmed', 'cancelled'];
const KINDS = ['route_plans', 'points_of_interest', 'agents', 'itineraries'];

/** `#/plans` with filters, or `#/plans/<kind>/<code>`, with `/<use>` if it is not the first use of the code. */
export const PlansView = ({ args: [kind, code, use], query }) =>
  code === undefined ? html`<${Board} query=${query} />` : html`<${PlanStory} kind=${kind} code=${code} use=${use} />`;

function Board({ query: { page = '0', state = '', kind = '', code = '', day = '', show = '' } }) {
  const board = useData('outbox', { page, state, kind, code, day });
  const typing = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  const search = (/** @type {any} */ event) => {
    const { value } = event.target;
    clearTimeout(typing.current);
    typing.current = setTimeout(() => setFilter({ code: value }, { replace: true }), 200);
  };
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => {
    // The code of a link, unless a person is typing one.
    if (input.current && document.activeElement !== input.current) input.current.value = code;
  }, [code]);
  const filters = html`<div class="filters">
    <label><span>${t('plans.code')}</span>
      <input ref=${input} type="search" defaultValue=${code} onInput=${search} placeholder=${t('plans.partOfCode')} autocomplete="off" /></label>
    <${Choice} label=${t('column.kind')} value=${kind} values=${KINDS} group="kind" onChoose=${(value) => setFilter({ kind: value })} />
    <label><span>${t('plans.day')}</span><input type="date" value=${day} onChange=${(/** @type {any} */ event) => setFilter({ day: event.target.value })} /></label>
    ${board.data === undefined ? null : html`<${ActionsOnMany} found=${board.data.found} search=${{ state, kind, code, day }} />`}
  </div>`;
  return html`<h1 tabindex="-1">${t('view.plans')}</h1>
    ${
      board.last === undefined
        ? null
        : html`<${Attention} attention=${board.data?.attention ?? []} rows=${board.data?.rows ?? []} gone=${board.last.gone} isFiltered=${state + kind + code + day !== ''} /><${Unread} unread=${board.last.unread} isWanted=${show === 'unread'} /><${Deadline} deadline=${board.last.deadline} isOld=${board.error !== undefined} />
      <${States} counts=${board.last.counts} current=${state} />`
    }
    ${filters}
    ${hasWord('stateTodo', state) ? html`<p class="hint">${word('stateTodo', state)}</p>` : null}
    <${Loaded} of=${board}>${(data) => html`<${Table} caption=${t('plans.caption')} columns=${columns()} rows=${data.rows.map(row)} empty=${t('plans.none')} />`}<//>
    <${Pager} of=${board} />`;
}

/** How many are named for each reason. */
const MOST_NAMED = 3;

/** Why entries of the search need a person. Without a filter also the other reasons of the health that are about single items. */
function Attention({ attention, rows, gone, isFiltered }) {
  const own = attention.map(({ reason, entries: n }) => {
    const found = rows.filter((/** @type {any} */ { needs_person }) => needs_person === reason);
    return { reason, n, found };
  });
  const { overview } = usePage();
  const others = isFiltered || overview === undefined ? [] : linesOf(overview).filter(isAlsoToLookAt);
  if (own.length + others.length === 0) return null;
  return html`<section class="banner ${own.length > 0 ? 'bad' : 'late'}" aria-label=${t('plans.needsPerson')}>
    ${own.length === 0 ? null : html`<strong>${t('plans.entriesNeed', { n: own.reduce((sum, { n }) => sum + n, 0) })}</strong>`}
    <ul class="needs">${own.map(
      ({
        reason,
        n,
        found,
      }) => html`<li key=${reason}>${t('plans.reasonCount', { n, what: word('says', reason) })}${' '}
        <${Named} entries=${found} n=${n} />
        <span class="hint">${word('todo', reason)}</span></li>`,
    )}${others.map(
      ({
        code,
        n,
        place,
      }) => html`<li key=${code}><a href=${place}>${t(/** @type {any} */ (`reason.${code}`), { n })}</a>${' '}
        <${Named} entries=${code === 'push_gone' ? gone : rows.filter(isOf(code))} n=${n} />
        ${hasWord('stateTodo', STATE_OF[code] ?? '') ? html`<span class="hint">${word('stateTodo', STATE_OF[code])}</span>` : null}</li>`,
    )}</ul></section>`;
}

/** The first of `n` entries, as far as they are known. */
const Named = ({ entries, n }) =>
  html`${entries.slice(0, MOST_NAMED).map((entry) => html`<a href=${entryHref(entry)} dir="auto">${entry.external_code}</a>${' '}`)}${n > Math.min(entries.length, MOST_NAMED) && entries.length > 0 ? '… ' : ''}`;

/** The state of the entries that a reason of the health counts. @type {Record<string, string>} */
const STATE_OF = { push_rejected: 'rejected', push_partial: 'partial', push_differs: 'differs' };

/** Entries that need a person are counted under their own reason. */
const isOf =
  (/** @type {string} */ code) =>
  (/** @type {any} */ { shown_state, needs_person }) =>
    shown_state === STATE_OF[code] && needs_person === null;

/** The first have a list of their own above, and those that could not be read one below. */
const isAlsoToLookAt = (/** @type {{code: string}} */ { code }) =>
  FOR_A_PERSON.includes(code) && !['push_person', 'push_unreadable'].includes(code);

function Unread({ unread, isWanted }) {
  const section = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (isWanted) section.current?.scrollIntoView();
  }, [isWanted]);
  if (unread.length === 0) return null;
  return html`<section class="banner late" ref=${section} aria-label=${t('plans.unread', { n: unread.length })}>
    <strong>${t('plans.unread', { n: unread.length })}</strong>
    <ul class="needs">${unread.map((each) => html`<${UnreadFile} key=${`${each.job} ${each.name}`} unread=${each} />`)}</ul>
    <span class="hint">${t('plans.unreadTodo')}</span></section>`;
}

const UnreadFile = ({ unread: { name, reason, job, at, folder } }) => html`<li>
  <${Foreign}>${name}<//>: <${Foreign}>${reason}<//>
  <span class="meaning">${job && html`<a href=${href('jobs', [job])}>${job}</a>`} ${at && dayAndTime(at)} ${folder && html`<code>${folder}</code>`}</span></li>`;

const UNCONFIRMED = 'unknown,sending,ready,rejected';

/** `isOld`: newer figures could not be read. */
function Deadline({ deadline, isOld }) {
  if (deadline === null) return null;
  const { at: by, due_at, day, confirmed, open, missed } = deadline;
  const isPast = Date.parse(due_at) < Date.now();
  const when = html`<${Time} kind=${isPast ? 'ago' : 'until'} at=${due_at} />`;
  const tone = missed.length > 0 ? 'bad' : open > 0 ? 'late' : isOld ? 'still' : 'ok';
  return html`<section class="banner ${tone}" aria-label=${t('plans.deadline')}>
    ${missed.length === 0 ? null : html`<${Missed} codes=${missed} />`}
    <strong>${open === 0 ? t('plans.allConfirmed') : html`<a href=${href('plans', [], { state: UNCONFIRMED, kind: 'route_plans', day })}>${t('plans.notConfirmed', { n: open })}</a>`}</strong>${' '}
    ${rich(isPast ? 'plans.deadlinePassed' : 'plans.deadlineAhead', { n: confirmed, by, when })}</section>`;
}

/** Of tomorrow and, until they are over, of earlier days. */
const Missed = ({ codes }) => html`<strong>${t('reason.deadline_missed', { n: codes.length })}:</strong>${' '}
  ${codes.slice(0, MOST_SHOWN).map((/** @type {string} */ code, /** @type {number} */ n) => html`${n === 0 ? '' : ', '}<a href=${href('plans', [], { code })} dir="auto">${code}</a>`)}${codes.length > MOST_SHOWN ? ', …' : ''}<br />`;

function States({ counts, current }) {
  const all = Object.values(counts).reduce((sum, n) => sum + n, 0);
  const button = (/** @type {string} */ state, /** @type {number} */ n) =>
    html`<button type="button" key=${state} class="state ${state === 'unknown' && n > 0 ? 'late' : ''}" aria-pressed=${String(current.split(',').includes(state))}
      onClick=${() => setFilter({ state })}><span class="state-count">${count(n)}</span>${' '}<span>${state === '' ? t('list.all') : word('entry', state)}</span></button>`;
  return html`<div class="states" role="group" aria-label=${t('column.state')}>${button('', all)}${STATES.map((state) => button(state, counts[state]))}</div>`;
}

/** @typedef {'retry' | 'cancel' | 'assert-absent'} ManyAction */
/** The actions on many entries that a state allows. @type {Record<string, ManyAction[]>} */
const ON_MANY = { rejected: ['retry', 'cancel'], ready: ['retry', 'cancel'], unknown: ['retry', 'assert-absent'] };

/** Each action shows what it would do with which entries before it acts, and acts on these alone, as it showed them. */
function ActionsOnMany({ found, search: { state, kind, code, day } }) {
  const { act, ask, note } = usePage();
  const actions = ON_MANY[state] ?? [];
  if (actions.length === 0 || found === 0) return null;
  const body = { states: [state], kind: kind || undefined, code: code || undefined, day: day || undefined };
  async function open(/** @type {ManyAction} */ action) {
    const preview = await act(`outbox/${action}-many`, body);
    const entries = preview.preview.map(({ kind, code, use, updated_at }) => ({ kind, code, use, updated_at }));
    if (entries.length === 0) return note(t('many.nothing'));
    ask({
      title: t(`many.${action}`, { n: entries.length }),
      text: html`<p>${t(`manyText.${action}`)}</p><${Preview} ...${preview} />`,
      confirm: t(`manyDo.${action}`),
      back: action === 'cancel' ? t('manyKeep.cancel') : undefined,
      action: () => act(`outbox/${action}-many`, { ...body, entries, sure: true }),
    });
  }
  const button = (/** @type {ManyAction} */ action) =>
    html`<button type="button" key=${action} class="quiet" aria-haspopup="dialog" onClick=${() => open(action).catch(() => undefined)}>${t(`manyAll.${action}`, { n: found })}</button>`;
  return html`<span class="buttons">${actions.map(button)}</span>`;
}

const MOST_SHOWN = 10;

/** What an action on many entries would do with each of them, those it skips first. `entries` counts all that match. */
function Preview({ entries, preview }) {
  const skipped = preview.filter(({ problem }) => problem !== null);
  const shown = [...skipped, ...preview.filter(({ problem }) => problem === null)];
  return html`${skipped.length > 0 ? html`<p class="wrong">${t('many.skipped', { n: skipped.length })}</p>` : null}
    <ul class="preview" tabindex="0" aria-label=${t('many.preview')}>${shown.map(
      ({
        kind,
        code,
        use,
        state,
        becomes,
        problem,
      }) => html`<li key=${`${kind} ${code} ${use}`}><${Foreign}>${code}<//>:${' '}
        ${problem === null ? `${word('entry', state)} → ${word('entry', becomes)}` : html`<${Said}>${problem}<//>`}</li>`,
    )}</ul>
    ${entries > shown.length ? html`<p class="wrong">${t('many.cut', { n: shown.length, others: entries - shown.length })}</p>` : null}`;
}

const columns = () => [
  { name: t('column.code'), class: 'code' },
  { name: t('column.state') },
  { name: t('column.kind'), class: 'short' },
  { name: t('column.starts'), class: 'short' },
  { name: t('column.message'), class: 'wide' },
  { name: t('column.changed') },
];

/** Null if there is no message, so that a narrow screen leaves the line out. */
export function EntryMessage({ entry: { message, reasons } }) {
  if (!message && reasons.length === 0) return null;
  // One element: the parts of a cell stand apart on a narrow screen.
  return html`<span><${Said}>${message}<//>${reasons.map((reason, n) => html`${n === 0 ? ': ' : '; '}<${Foreign}>${reason}<//>`)}</span>`;
}

/** @type {Record<string, string>} */
const ROW_CLASSES = { bad: 'row-bad', late: 'row-late' };

const row = (entry) => ({
  key: entryHref(entry),
  class: entry.needs_person !== null ? 'row-bad' : ROW_CLASSES[toneOf(entry.shown_state)],
  cells: [
    html`<a href=${entryHref(entry)} dir="auto">${entry.external_code}</a>
      ${entry.code_use === 1 ? null : html`<span class="meaning">${t('plans.use', { use: entry.code_use })}</span>`}
      ${entry.vehicle && html`<span class="meaning" dir="auto">${entry.vehicle}</span>`}`,
    html`<span class="pills"><${EntryPills} entry=${entry} /></span>`,
    word('kind', entry.kind),
    entry.period_start === null ? null : dayAndTime(entry.period_start),
    html`<${EntryMessage} entry=${entry} />`,
    html`<${Time} at=${entry.updated_at} />`,
  ],
});
