// Numbers, times, states and reasons as short texts.
import { el } from './dom.js';

const number = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

export const count = (n) => number.format(n);
export const shortCount = (n) => short.format(n);
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** The time zone of the installation; the browser's own until the server has sent it. */
let zone;
export const setZone = (name) => {
  zone = name;
};

const formats = new Map();
function formatted(instant, options) {
  const key = JSON.stringify([zone, options]);
  if (!formats.has(key)) formats.set(key, new Intl.DateTimeFormat('en-GB', { timeZone: zone, ...options }));
  return formats.get(key).format(typeof instant === 'number' ? instant : new Date(instant));
}

export const clockTime = (instant) => formatted(instant, { hour: '2-digit', minute: '2-digit' });
export const fullTime = (instant) => formatted(instant, { dateStyle: 'medium', timeStyle: 'medium' });
export const dayAndTime = (instant) =>
  formatted(instant, { day: '2-digit', month: 'short', hour: '2-digit', minute: '2-digit' });
export const weekday = (day) =>
  new Intl.DateTimeFormat('en-GB', {
    timeZone: 'UTC',
    weekday: 'short',
    day: '2-digit',
    month: 'short',
  }).format(new Date(`${day}T12:00:00Z`));

/** A duration in seconds as a text with at most two units. */
export function span(seconds) {
  const s = Math.abs(seconds);
  if (s < 1) return `${Math.round(s * 1000)} ms`;
  if (s < 10) return `${s.toFixed(1)} s`;
  if (s < 60) return `${Math.round(s)} s`;
  const minutes = Math.floor(s / 60);
  if (minutes < 60) return minutes < 10 && s % 60 >= 0.5 ? `${minutes} min ${Math.round(s % 60)} s` : `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d`;
}

/** The duration of a run; null while it runs. */
export const runSeconds = ({ started_at, finished_at }) =>
  finished_at === null ? null : (Date.parse(finished_at) - Date.parse(started_at)) / 1000;

const CLOCKS = {
  ago: (ms) => (ms < 1500 ? 'just now' : `${span(ms < 60000 ? ms / 1000 : Math.floor(ms / 60000) * 60)} ago`),
  until: (ms) => (ms > 0 ? 'due now' : `in ${span(-ms / 1000)}`),
  age: (ms) => span(Math.max(0, ms) / 1000),
};

const clockWords = (kind, instant) => CLOCKS[kind](Math.floor((Date.now() - Date.parse(instant)) / 1000) * 1000);

/** A relative time that is updated every second; its title is the exact time. */
export const ticking = (kind, instant) =>
  el('time', { datetime: instant, 'data-clock': kind, title: fullTime(instant) }, clockWords(kind, instant));

export function tick() {
  for (const node of document.querySelectorAll('time[data-clock]')) {
    const words = clockWords(node.dataset.clock, node.dateTime);
    if (node.textContent !== words) node.textContent = words;
  }
}

export const HEALTH = {
  ok: { word: 'ok', tone: 'ok' },
  late: { word: 'late', tone: 'late' },
  failing: { word: 'failing', tone: 'bad' },
  paused: { word: 'paused', tone: 'still' },
  'never ran': { word: 'never ran', tone: 'new' },
};

const TONES = {
  ok: 'ok',
  partial: 'late',
  failed: 'bad',
  abandoned: 'bad',
  running: 'new',
  confirmed: 'ok',
  ready: 'still',
  sending: 'new',
  unknown: 'late',
  rejected: 'bad',
  cancelled: 'still',
  late: 'late',
  attention: 'late',
  failing: 'bad',
  paused: 'still',
  'never ran': 'new',
  alive: 'ok',
  silent: 'bad',
};

const CHECK_SERVICE =
  'Check whether the service has it. If not, open the entry here and choose “Not at the service: send it”.';

/** Why an outbox entry needs a person: a short word for lists, a sentence, and what to do. */
export const ATTENTION = {
  unknown: {
    word: 'no clear answer',
    says: 'It was sent more than ten minutes ago without a clear answer, so it may or may not have arrived.',
    todo: CHECK_SERVICE,
  },
  inconclusive: {
    word: 'read-back inconclusive',
    says: 'It may be at the service, but the read-back could not confirm it.',
    todo: CHECK_SERVICE,
  },
  retries_exhausted: {
    word: 'retries exhausted',
    says: 'It was sent five times without a clear answer, so it is not retried automatically.',
    todo: CHECK_SERVICE,
  },
  never_shown: {
    word: 'accepted, never shown',
    says: 'The service accepted it, but no listing shows it.',
    todo: CHECK_SERVICE,
  },
  found_twice: {
    word: 'found twice',
    says: 'The service has it more than once.',
    todo: 'Remove all but one at the service; Roadbook cannot do that.',
  },
  code_reused: {
    word: 'code reused',
    says: 'The ERP reused a code from another day.',
    todo: 'Give it a code of its own in the ERP, or set reuse_codes: true for the job.',
  },
  read_error: {
    word: 'cannot be read',
    says: 'It is or may be at the service, and the ERP sent it again in a form that cannot be read.',
    todo: 'Correct it in the ERP.',
  },
  invalid_change: {
    word: 'invalid change',
    says: 'It is or may be at the service, and the ERP changed it in a way that is invalid.',
    todo: 'Correct it in the ERP.',
  },
  not_acknowledged: {
    word: 'ERP not notified',
    says: 'It is finished, but the ERP has not accepted the notification for more than ten minutes.',
    todo: 'Check the acknowledgement settings of the feed.',
  },
};

/** An unknown reason, from a newer server, is shown as it is. */
export const attentionWords = (reason) =>
  ATTENTION[reason] ?? { word: reason.replaceAll('_', ' '), says: '', todo: '' };

export const entriesNeeding = (attention) => attention.reduce((sum, { entries }) => sum + entries, 0);

export const toneOf = (word) => TONES[word] ?? 'still';

/** A state as a word with a mark. The shape of the mark differs too, not only its colour. */
export const pill = (word, tone = toneOf(word)) =>
  el('span', { class: `pill ${tone}` }, el('span', { class: 'mark', 'aria-hidden': 'true' }), word);

/** Why an entry needs a person; null if it does not. */
export const attentionPill = ({ needs_person: reason }) =>
  reason === null ? null : pill(attentionWords(reason).word, 'bad');
