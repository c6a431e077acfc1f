// The last reported state of each alert subject, stored in the warehouse: a restart neither repeats nor loses an alert,
// and only one of several daemons reports it. A daemon claims an alert before it reports it. An unfinished claim expires.
import { isoInstant } from '../../core/time/clock.ts';
import type { Engine } from '../engine.ts';
import { factIn, writeFact } from './learned-facts.ts';

/** The state of a subject that has no report yet. */
const NOTHING_REPORTED = 'ok';

/** Longer than sending a message takes, with all its retries. */
const CLAIM_MS = 300_000;

/** While a state lasts, new items are reported at most this often: a run may reject a thousand, one after another. */
const NEXT_REPORT_MS = 3_600_000;

interface AlertState {
  subject: string;
  state: string;
  /** ISO instant of the newest item; null if the state has no items. */
  newest: string | null;
}

export interface Reported {
  state: string;
  /** ISO instant of the newest item that was reported. */
  newest: string | null;
  /** ISO instant of the report. */
  at: string | null;
  claim: { at: string } | null;
}

const PREFIX = 'alert ';

/** Reports of earlier versions lack some fields. The state `partial` that they gave a job exists no more, so its end is no recovery. */
function reported(stored: Partial<Reported> = {}): Reported {
  const last = { state: NOTHING_REPORTED, newest: null, at: null, claim: null, ...stored };
  return last.state === 'partial' && stored.at === undefined ? { ...last, state: NOTHING_REPORTED } : last;
}

/** Whether the state has changed since the last report, or items are newer than those that were reported. */
export function isNews({ state, newest }: AlertState, nowMs: number, last = reported()): boolean {
  if (state !== last.state) return true;
  return newest !== null && newest > (last.newest ?? '') && !isWithin(NEXT_REPORT_MS, last.at, nowMs);
}

/** By subject: the last report. Includes subjects whose first report is under way. */
export const reportedStates = (engine: Engine): Promise<Map<string, Reported>> =>
  engine.read(async (sql) => {
    const rows = await sql('sync_state').where('name', 'like', `${PREFIX}%`).select('name', 'value');
    return new Map(rows.map(({ name, value }) => [name.slice(PREFIX.length), reported(JSON.parse(value))]));
  });

export const forgetReports = (engine: Engine): Promise<void> =>
  engine.write(async ({ sql }) => void (await sql('sync_state').where('name', 'like', `${PREFIX}%`).delete()));

/** Returns the last reported state if the caller may report the new one; undefined if there is nothing to report. */
export const claimAlert = (engine: Engine, alert: AlertState, nowMs: number): Promise<string | undefined> =>
  engine.write(async (tx) => {
    const name = PREFIX + alert.subject;
    const last = reported(await factIn<Partial<Reported>>(tx.sql, name));
    if (!isNews(alert, nowMs, last) || isWithin(CLAIM_MS, last.claim?.at ?? null, nowMs)) return undefined;
    await writeFact(tx, name, { ...last, claim: { at: isoInstant(nowMs) } }, nowMs);
    return last.state;
  });

export function recordAlert(engine: Engine, { subject, state, newest }: AlertState, nowMs: number): Promise<void> {
  const report: Reported = { state, newest, at: isoInstant(nowMs), claim: null };
  return engine.write((tx) => writeFact(tx, PREFIX + subject, report, nowMs));
}

function isWithin(ms: number, at: string | null, nowMs: number): boolean {
  if (at === null) return false;
  const ageMs = nowMs - Date.parse(at);
  // A time in the future is from before the clock was set back. It is ignored, or it would block the alert.
  return ageMs >= 0 && ageMs < ms;
}
