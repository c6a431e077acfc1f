// @ts-check
// For BI: a strip of the last 30 days for each fact table, final, provisional or hole.
import { html } from '../html.js';
import { Strip } from '../parts/sparks.js';
import { Empty } from '../parts/words.js';
import { t, word } from '../texts.js';
import { dayAndTime, toneOf, weekday } from '../words.js';

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
      return html`<div class="gantt-row" key=${name}><code class="gantt-name">${name}</code>
        <${Strip} label="${name}: ${last === undefined ? t('days.noneFinal') : t('days.finalUntil', { day: weekday(last.day) })}" cells=${cells} /></div>`;
    })}
    <p class="legend">${['final', 'provisional', 'hole'].map((status) => html`<span key=${status} class="key ${toneOf(status)}"><span class="swatch"></span>${word('dayStatus', status)}</span>`)}</p>
  </div>`;
}

function dayCell(day, { status, read_until, expected_final_at }) {
  const words = [
    weekday(day),
    word('dayStatus', status),
    read_until === null ? t('data.notRead') : t('days.readUntil', { at: dayAndTime(read_until) }),
    status === 'provisional' && expected_final_at !== null
      ? t('days.finalAt', { at: dayAndTime(expected_final_at) })
      : null,
  ];
  return { key: day, tone: toneOf(status), words: words.filter(Boolean).join(' · '), href: `#/today?day=${day}` };
}
