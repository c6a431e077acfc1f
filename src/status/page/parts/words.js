// @ts-check
// Small elements of every view: states, times, cards, empty lists, texts that come from elsewhere.
import { useEffect, useState } from 'preact/hooks';
import { href } from '../address.js';
import { html } from '../html.js';
import { errorMeaning, hasWord, t, translated, word } from '../texts.js';
import { clockWords, fullTime, toneOf, weekday } from '../words.js';
import { usePage } from './page.js';

/** A state as a word with a mark. The shape of the mark differs too, not only its colour. */
export const Pill = ({ state, group = 'state', tone = toneOf(state) }) =>
  html`<span class="pill ${tone}"><span class="mark" aria-hidden="true"></span>${word(group, state)}</span>`;

/** Why an entry needs a person; nothing if it does not. */
export const AttentionPill = ({ entry: { needs_person: reason } }) =>
  reason === null ? null : html`<${Pill} state=${reason} group="attention" tone="bad" />`;

/** The state of an outbox entry, and why it needs a person. */
export const EntryPills = ({ entry }) => html`
  <${Pill} state=${entry.shown_state} group="entry" />${' '}<${AttentionPill} entry=${entry} />`;

/** Every element that shows a relative time. One timer moves all of them. @type {Set<() => void>} */
const ticking = new Set();
setInterval(() => ticking.forEach((update) => void update()), 1000);

/** A relative time that is updated every second; its title is the exact time. */
export function Time({ at, kind = 'ago' }) {
  const words = clockWords(/** @type {any} */ (kind), at);
  const [, setShown] = useState(words);
  useEffect(() => {
    const update = () => setShown(clockWords(/** @type {any} */ (kind), at));
    ticking.add(update);
    return () => void ticking.delete(update);
  }, [at, kind]);
  return html`<time datetime=${at} title=${fullTime(at)}>${words}</time>`;
}

/** A text that was written elsewhere, by the service, the ERP or a log: in its own language and direction. */
export const Foreign = ({ children, class: own = undefined }) => html`<span class=${own} dir="auto">${children}</span>`;

/** A sentence of the daemon. It is English if there is no translation. */
export const Said = ({ children, class: own = undefined }) => {
  const words = translated(children);
  return html`<span class=${own} dir="auto" lang=${words === undefined ? 'en' : undefined}>${words ?? children}</span>`;
};

/** The server's name for many entries: their number if they were chosen one by one, and what they were searched by. */
const MANY =
  /^(?:(?<n>\d+) chosen )?(?:(?<states>[a-z]+(?:, [a-z]+)*) )?entries(?: of (?<kind>\w+))?(?: starting on (?<day>[\d-]+))?(?: with (?<code>".*") in their code)?$/;

/** What an action was about: a job, an entry or many. */
export function Subject({ children }) {
  const { n, states, kind, day, code } = MANY.exec(children)?.groups ?? {};
  const many = [
    n && t('many.chosen', { n: Number(n) }),
    ...(states?.split(', ').map((state) => word('entry', state)) ?? []),
    kind && word('kind', kind),
    day && weekday(day),
    code,
  ].filter(Boolean);
  return html`<${Foreign}>${many.length === 0 ? children : many.join(' · ')}<//>`;
}

/** Commands of hints, and the list of the page that shows the same. @type {[RegExp, (found: string[]) => string][]} */
const LISTS = [
  [/outbox list --state (\w+)/, ([, state]) => href('plans', [], { state })],
  [/outbox list/, () => href('plans')],
  [/quarantine list/, () => href('data', ['quarantine'])],
];

/** What to try, in `words` if given, with a link if a list of the page shows what the command does. */
export function Hint({ children, words = undefined }) {
  const [list] = LISTS.flatMap(([command, address]) => {
    const found = command.exec(children);
    return found === null ? [] : [address(found)];
  });
  return html`<span class="hint">${words ?? html`<${Said}>${children}<//>`}${list && html` <a href=${list}>${t('hint.list')}</a>`}</span>`;
}

/**
 * The error of a run and what to try. In Portuguese the meaning of its code is first, then the English words, which have the
 * names and commands of the case.
 */
export function RunError({ code, error, hint }) {
  const [what, todo] = errorMeaning(code) ?? [];
  if (what === undefined)
    return html`<${Said} class="what">${error}<//>${hint === null ? null : html`${' '}<${Hint}>${hint}<//>`}`;
  return html`<span class="what">${what}</span>${' '}<${Hint} words=${todo}>${hint ?? ''}<//>${' '}
    <span class="faint" dir="auto" lang="en">${hint === null ? error : `${error.replace(/(?<![.!?])$/, '.')} ${hint}`}</span>`;
}

export const Faint = ({ children }) => html`<span class="faint">${children}</span>`;
export const Empty = ({ children }) => html`<p class="empty">${children}</p>`;

export const Panel = ({ name, children, ...rest }) =>
  html`<section class="panel" aria-label=${name} ...${rest}><h2>${name}</h2>${children}</section>`;

/** A figure with its name and a remark, as a list item. */
export function Card({ name, value, tone = '', href = undefined, title = undefined, children }) {
  const inside = html`<span class="card-name">${name}</span><span class="card-value">${value}</span>
    <span class="card-words">${children}</span>`;
  return html`<li class="card ${tone}" title=${title}>
    ${href === undefined ? html`<div class="card-inside">${inside}</div>` : html`<a class="card-inside" href=${href}>${inside}</a>`}
  </li>`;
}

/** Facts with their names; those without a value are left out. */
export const Facts = ({ facts, kind = 'facts' }) =>
  html`<dl class=${kind}>
    ${facts
      .filter(([, value]) => value !== null && value !== undefined && value !== '')
      .map(([name, value, own = ''], n) => html`<div key=${n} class=${own}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;

/** An error: in the words of the catalogue, or in those of the server. */
export const Failure = ({ error }) =>
  html`<div role="alert">
    ${
      hasWord('error', error.code)
        ? html`<p class="wrong">${word('error', error.code)}</p>`
        : html`<p class="wrong"><${Said}>${error.message}<//></p>
          ${error.hint ? html`<p class="hint"><${Said}>${error.hint}<//></p>` : null}`
    }
  </div>`;

/**
 * Shows what `useData` brought: the error, a line while it is on its way, or the content. Times are shown in the time zone
 * of the installation, which the live document brings, so the content waits for that too.
 */
export function Loaded({ of: { data, error, readAt }, children }) {
  const { overview, isOutdated } = usePage();
  if (error !== undefined && data === undefined) return html`<${Failure} error=${error} />`;
  if (data === undefined || overview === undefined) return html`<p class="hint" role="status">${t('page.loading')}</p>`;
  // If the whole page is out of date, it says so once.
  const isOld = error !== undefined && !isOutdated;
  return html`<div>${isOld && html`<p class="banner bad" role="alert">${word('error', error.code)} ${t('data.since', { at: fullTime(readAt) })}</p>`}${children(data)}</div>`;
}

/** A choice among values; the first one is "all". */
export const Choice = ({ label, value, values, group = undefined, onChoose }) =>
  html`<label><span>${label}</span>
    <select value=${value} onChange=${(/** @type {any} */ event) => onChoose(event.target.value)}>
      <option value="">${t('list.all')}</option>
      ${values.map((each) => html`<option key=${each} value=${each} selected=${each === value} dir=${group === undefined ? 'auto' : undefined}>${group === undefined ? each : word(group, each)}</option>`)}
    </select></label>`;
