// @ts-check
// For BI: whether the figures of yesterday may be published, and a strip of the last 30 days for each fact table: final,
// provisional or hole.
import { href } from '../address.js';
import { html } from '../html.js';
import { Strip } from '../parts/sparks.js';
import { Empty } from '../parts/words.js';
import { t, word } from '../texts.js';
import { dayAndTime, toneOf, weekday } from '../words.js';

/** Today is the first of `days`. */
export function Yesterday({ days: [, yesterday], tables }) {
  if (yesterday === undefined) return null;
  const open = yesterday.tables.filter(({ status }) => status !== 'final');
  const day = weekday(yesterday.day);
  const tone = open.length === 0 ? 'ok' : open.some(({ status }) => status === 'hole') ? 'bad' : 'late';
  return html`<section class="banner ${tone}" aria-label=${t('days.yesterday')}>
    <strong>${open.length === 0 ? t('days.final', { day }) : t('days.notFinal', { day })}</strong>
    ${
      open.length === 0
        ? null
        : html`<ul class="needs">${open.map((each) => {
            const job = tables.find(({ name }) => name === each.table_name)?.job;
            return html`<li key=${each.table_name}><code>${each.table_name}</code>: ${statusWords(each)}${job === undefined ? null : html` · <a href=${href('jobs', [job])}>${job}</a>`}</li>`;
          })}</ul>`
    }</section>`;
}

export function Days({ days }) {
  if (days.length === 0) return html`<${Empty}>${t('days.none')}<//>`;
  const oldestFirst = days.toReversed();
  const names = [...new Set(days.flatMap(({ tables }) => tables.map(({ table_name }) => table_name)))];
  return html`<div class="gantt">
    ${names.map((name) => {
      const cells = oldestFirst.flatMap(({ day, tables }) => {
        const status = tables.find(({ table_name }) => table_name === name);
        return status === undefined ? [] : [dayCell(day, status)];
      });
      const last = days.find(({ tables }) =>
        tables.some((each) => each.table_name === name && each.status === 'final'),
      );
      const until = last === undefined ? t('days.noneFinal') : t('days.finalUntil', { day: weekday(last.day) });
      return html`<div class="gantt-row" key=${name}><span class="gantt-name"><code>${name}</code><span class="meaning">${until}</span></span>
        <${Strip} label="${name}: ${until}" cells=${cells} /></div>`;
    })}
    <p class="legend">${['final', 'provisional', 'hole'].map((status) => html`<span key=${status} class="key ${toneOf(status)}"><span class="swatch"></span>${word('dayStatus', status)}</span>`)}</p>
  </div>`;
}

const dayCell = (day, status) => ({
  key: day,
  tone: toneOf(status.status),
  words: `${weekday(day)} · ${statusWords(status)}`,
  href: `#/today?day=${day}`,
});

function statusWords({ status, read_until, expected_final_at }) {
  const words = [
    word('dayStatus', status),
    read_until === null ? t('data.notRead') : t('days.readUntil', { at: dayAndTime(read_until) }),
    status === 'provisional' && expected_final_at !== null
      ? t('days.finalAt', { at: dayAndTime(expected_final_at) })
      : null,
  ];
  return words.filter(Boolean).join(' · ');
}
