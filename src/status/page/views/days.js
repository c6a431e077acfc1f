// @ts-check
// For BI: whether the figures of yesterday may be published, and a strip of the last 30 days for each fact table: final,
// provisional or hole.
import { href } from '../address.js';
import { html } from '../html.js';
import { usePage } from '../parts/page.js';
import { Strip } from '../parts/sparks.js';
import { Empty, Time } from '../parts/words.js';
import { hasWord, rich, t, word } from '../texts.js';
import { dayAndTime, finePercent, span, toneOf, weekday, weekdayAndTime } from '../words.js';
import { shownHealth } from './overview.js';

/** Today is the first of `days`. `isOld`: newer figures could not be read. */
export function Yesterday({ days, tables, isOld = false }) {
  const [, yesterday] = days;
  if (yesterday === undefined) return null;
  const open = yesterday.tables.filter(({ status }) => status !== 'final');
  const hasHole = open.some(({ status }) => status === 'hole');
  const flawed = tables.filter(({ in_quarantine, drift_ratio }) => in_quarantine > 0 || drift_ratio > 0);
  const isSound = open.length === 0 && flawed.length === 0;
  return html`<section class="banner ${isSound ? (isOld ? 'still' : 'ok') : hasHole ? 'bad' : 'late'}" aria-label=${t('days.yesterday')}>
    <strong>${conclusion(yesterday, flawed)}</strong>
    ${open.length === 0 ? null : html`${' '}${latestFinal(days)}<ul class="needs">${open.map((each) => html`<${OpenTable} key=${each.table_name} of=${each} day=${yesterday} tables=${tables} />`)}</ul>`}
    ${flawed.length === 0 ? null : html`${open.length === 0 ? null : t('days.flawed')}<ul class="needs">${flawed.map((each) => html`<${Flawed} key=${each.name} of=${each} />`)}</ul>`}
  </section>`;
}

/** Invalid records may belong to any day, and drift is found in a sample: neither is known to spare yesterday. */
const Flawed = ({ of: { name, in_quarantine: n, drift_ratio } }) => html`<li><code>${name}</code>:${' '}
  ${n > 0 ? html`<a href=${href('data', ['quarantine'])}>${t('reason.quarantine', { n })}</a>` : null}${n > 0 && drift_ratio > 0 ? ' · ' : null}${drift_ratio > 0 ? t('verified.drift', { share: finePercent(drift_ratio) }) : null}</li>`;

/**
 * Whether the day may be published. `flawed`: the tables with records in quarantine, or with drift.
 * @param {{day: string, tables: {table_name?: string, status: string, expected_final_at: string | null}[]}} of
 * @param {unknown[]} [flawed]
 */
export function conclusion({ day, tables }, flawed = []) {
  const open = tables.filter(({ status }) => status !== 'final');
  if (open.length === 0) return t(flawed.length === 0 ? 'days.final' : 'days.finalFlawed', { day: weekday(day) });
  const holes = open.filter(({ status }) => status === 'hole').map(({ table_name }) => table_name);
  if (holes.length > 0)
    return t('days.hole', { day: weekday(day), n: open.length, all: tables.length, tables: holes.join(', ') });
  if (open.some(({ expected_final_at }) => expected_final_at === null)) return t('days.waits', { day: weekday(day) });
  const last = Math.max(...open.map(({ expected_final_at }) => Date.parse(expected_final_at ?? '')));
  return t('days.publishFrom', { day: weekday(day), at: weekdayAndTime(last) });
}

function latestFinal(days) {
  const last = days.find(({ tables }) => tables.every(({ status }) => status === 'final'));
  return last === undefined ? t('days.noneFinalInAll') : t('days.latestFinal', { day: weekday(last.day) });
}

/** Of a job that reads nothing until a person changes that. */
const STOPPED = ['disabled', 'paused'];

function OpenTable({ of: status, day, tables }) {
  const { table_name: name, last_read_at } = status;
  const { overview } = usePage();
  const job = tables.find((table) => table.name === name)?.job;
  const found = overview?.jobs.find((each) => each.name === job);
  const health = found === undefined ? '' : shownHealth(found);
  return html`<li><code>${name}</code>${hasWord('dayParts', name) ? ` (${word('dayParts', name)})` : null}: ${statusWords(status, day)}
    ${last_read_at === null ? null : html` · ${rich('days.lastRead', { when: html`<${Time} at=${last_read_at} />` })}`}
    ${job === undefined ? null : html` · <a href=${href('jobs', [job])}>${job}</a>${STOPPED.includes(health) ? ` (${word('health', health)})` : null}`}</li>`;
}

/** The last day up to which a fact table is final; undefined if none of the days is. */
export const lastFinal = (days, /** @type {string} */ name) =>
  days.find(({ tables }) => tables.some((each) => each.table_name === name && each.status === 'final'))?.day;

export function Days({ days }) {
  if (days.length === 0) return html`<${Empty}>${t('days.none')}<//>`;
  const oldestFirst = days.toReversed();
  const names = [...new Set(days.flatMap(({ tables }) => tables.map(({ table_name }) => table_name)))];
  return html`<div class="gantt">
    ${names.map((name) => {
      const cells = oldestFirst.flatMap((day) => {
        const status = day.tables.find(({ table_name }) => table_name === name);
        return status === undefined ? [] : [dayCell(day, status)];
      });
      const last = lastFinal(days, name);
      const until = last === undefined ? t('days.noneFinal') : t('days.finalUntil', { day: weekday(last) });
      return html`<div class="gantt-row" key=${name}><span class="gantt-name"><code>${name}</code><span class="meaning">${until}</span></span>
        <${Strip} label="${name}: ${until}" cells=${cells} /></div>`;
    })}
    <p class="legend">${['final', 'provisional', 'hole'].map((status) => html`<span key=${status} class="key ${toneOf(status)}"><span class="swatch"></span>${word('dayLegend', status)}</span>`)}</p>
  </div>`;
}

const dayCell = (day, status) => ({
  key: day.day,
  tone: toneOf(status.status),
  words: `${weekday(day.day)} · ${statusWords(status, day)}`,
  href: `#/today?day=${day.day}`,
});

/** @type {(expected: string | null, endsAt: string) => (string | false)[]} */
function untilFinal(expected, endsAt) {
  if (expected === null) return [t('days.openPlan')];
  const seconds = (Date.parse(expected) - Date.parse(endsAt)) / 1000;
  return [
    seconds > 0 && t('days.readAgain', { span: span(seconds) }),
    t('days.finalAt', { at: weekdayAndTime(expected) }),
  ];
}

function statusWords({ status, read_until, expected_final_at }, { ends_at }) {
  const isComplete = read_until !== null && read_until >= ends_at;
  const words = [
    word('dayStatus', status),
    isComplete
      ? t('days.complete')
      : read_until === null
        ? t('data.notRead')
        : t('days.readUntil', { at: dayAndTime(read_until) }),
    ...(status === 'provisional' ? untilFinal(expected_final_at, ends_at) : []),
  ];
  return words.filter(Boolean).join(' · ');
}
