// Short messages at the edge of the page: the results of actions.
import { el } from './dom.js';

const SHOWN_MS = 8000;

export function note(words, tone = 'ok', hint = null) {
  const line = el(
    'p',
    { class: `note ${tone}` },
    el('span', { dir: 'auto' }, words),
    hint === null ? null : el('span', { class: 'hint' }, ` ${hint}`),
  );
  document.getElementById('notes').append(line);
  setTimeout(() => line.remove(), SHOWN_MS);
}
