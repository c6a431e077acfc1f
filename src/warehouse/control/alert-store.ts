// The last reported state of each alert subject, stored in the warehouse: a restart neither repeats nor loses an alert,
// and only one of several daemons reports it. A daemon claims an alert before it reports it. An unfinished claim expires.
import { isoInstant } from '../../core/time/clock.ts';
import type { Engine } from '../engine.ts';
import { factIn, writeFact } from './learned-facts.ts';

/** The state of a subject that has no report yet. */
const NOTHING_REPORTED = 'ok';

/** Longer than sending a message takes, with all its retries. */
const CLAIM_MS = 300_000;

interface AlertState {
  subject: string;
  state: string;
  newest?: string | null | undefined;
}

export interface Reported {
  state: string;
  /** ISO instant of the newest item that was reported; absent if an earlier version stored the report. */
  newest?: string | null | undefined;
  claim: { at: string } | null;
}

const PREFIX = 'alert ';

/** Whether the state has changed since the last report, or an item is newer than those that were reported. */
export const isNews = ({ state, newest }: AlertState, last: Reported | undefined): boolean =>
  state !== (last?.state ?? NOTHING_REPORTED) || (newest ?? '') > (last?.newest ?? '');

/** By subject: the last report. Includes subjects whose first report is under way. */
export const reportedStates = (engine: Engine): Promise<Map<string, Reported>> =>
  engine.read(async (sql) => {
    const rows = await sql('sync_state').where('name', 'like', `${PREFIX}%`).select('name', 'value');
    return new Map(rows.map(({ name, value }) => [name.slice(PREFIX.length), JSON.parse(value) as Reported]));
  });

/** Returns the last reported state if the caller may report the new one; undefined if there is nothing to report. */
export const claimAlert = (engine: Engine, alert: AlertState, nowMs: number): Promise<string | undefined> =>
  engine.write(async (tx) => {
    const name = PREFIX + alert.subject;
    const last = (await factIn<Reported>(tx.sql, name)) ?? { state: NOTHING_REPORTED, claim: null };
    if (!isNews(alert, last) || isClaimed(last, nowMs)) return undefined;
    await writeFact(tx, name, { ...last, claim: { at: isoInstant(nowMs) } }, nowMs);
    return last.state;
  });

export const recordAlert = (engine: Engine, { subject, state, newest }: AlertState, nowMs: number): Promise<void> =>
  engine.write((tx) => writeFact(tx, PREFIX + subject, { state, newest: newest ?? null, claim: null }, nowMs));

const isClaimed = ({ claim }: Reported, nowMs: number): boolean => {
  if (claim === null) return false;
  const ageMs = nowMs - Date.parse(claim.at);
  // A claim dated in the future is from before the clock was set back. It is ignored, or it would block the alert.
  return ageMs >= 0 && ageMs < CLAIM_MS;
};
