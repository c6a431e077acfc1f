// @ts-check
// The server's reasons why the health is not ok, joined for people: one line for all jobs with the same problem, one for
// all pushes that need a person.

/** @typedef {{code: string, health: string, subject: string, text: string, place: string}} Reason */
/** @typedef {{code: string, tone: string, n: number, texts: string[], place: string, jobs: string[]}} Line */

/** @type {Record<string, string>} */
const TONES = { failing: 'bad', late: 'late', warning: 'late', 'never ran': 'new' };

/** These are late: a run, or plans for tomorrow. People take a late push or sample for a late delivery. */
const LATE = ['job_late', 'deadline_missed'];

/**
 * The word for the overall health.
 * @param {{health: string, reasons: {code: string}[]}} status
 */
export const shownOverall = ({ health, reasons }) =>
  health === 'late' && !reasons.some(({ code }) => LATE.includes(code)) ? 'warning' : health;

/** A text about several things begins with their number. */
const numberIn = (/** @type {string} */ text) => Number(/^\d+/.exec(text)?.[0] ?? 1);

/**
 * The worst first; none if everything is plainly ok.
 * @param {{reasons: Reason[], attention: {reason: string}[]}} status
 * @returns {Line[]}
 */
export function linesOf({ reasons, attention }) {
  const needing = new Set(attention.map(({ reason }) => `push_${reason}`));
  const groups = Map.groupBy(reasons, ({ code }) => (needing.has(code) ? 'push_person' : code));
  return [...groups].map(([code, own]) => {
    const jobs = own.flatMap(({ subject }) => (subject.startsWith('job ') ? [subject.slice('job '.length)] : []));
    return {
      code,
      tone: code === 'job_paused' ? 'still' : (TONES[own[0].health] ?? 'late'),
      n: jobs.length > 0 ? jobs.length : own.reduce((sum, { text }) => sum + numberIn(text), 0),
      texts: own.map(({ text }) => text),
      place: `#/${own[0].place.replace(/^#\//, '')}`,
      jobs,
    };
  });
}

/** Reasons about single items, each of which a person must see to. */
export const FOR_A_PERSON = [
  ...['push_person', 'push_rejected', 'push_unreadable', 'push_partial'],
  ...['push_differs', 'push_gone', 'push_stops_without_code'],
];
