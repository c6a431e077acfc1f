// The last reported state of each alert subject, stored in the warehouse: a restart neither repeats nor loses an alert,
// and only one of several daemons reports it. A daemon claims an alert before it reports it. An unfinished claim expires.
import { isoInstant } from '../../core/time/clock.ts';
import type { Engine } from '../engine.ts';
import { factIn, writeFact } from './learned-facts.ts';

/** The state of a subject that has no report yet. */
export const NOTHING_REPORTED = 'ok';

/** Longer than sending a message takes, with all its retries. */
const CLAIM_MS = 300_000;

interface Reported {
  state: string;
  claim: { at: string } | null;
}

const PREFIX = 'alert ';

/** By subject: the last reported state. Includes subjects whose first report is under way. */
export const reportedStates = (engine: Engine): Promise<Map<string, string>> =>
  engine.read(async (sql) => {
    const rows = await sql('sync_state').where('name', 'like', `${PREFIX}%`).select('name', 'value');
    return new Map(rows.map(({ name, value }) => [name.slice(PREFIX.length), (JSON.parse(value) as Reported).state]));
  });

/** Returns the last reported state if the caller may report `state`; undefined if there is nothing to report. */
export const claimAlert = (
  engine: Engine,
  subject: string,
  state: string,
  nowMs: number,
): Promise<string | undefined> =>
  engine.write(async (tx) => {
    const last = (await factIn<Reported>(tx.sql, PREFIX + subject)) ?? { state: NOTHING_REPORTED, claim: null };
    if (last.state === state || isClaimed(last, nowMs)) return undefined;
    await writeFact(tx, PREFIX + subject, { ...last, claim: { at: isoInstant(nowMs) } }, nowMs);
    return last.state;
  });

export const recordAlert = (engine: Engine, subject: string, state: string, nowMs: number): Promise<void> =>
  engine.write((tx) => writeFact(tx, PREFIX + subject, { state, claim: null }, nowMs));

const isClaimed = ({ claim }: Reported, nowMs: number): boolean => {
  if (claim === null) return false;
  const ageMs = nowMs - Date.parse(claim.at);
  // A claim dated in the future is from before the clock was set back. It is ignored, or it would block the alert.
  return ageMs >= 0 && ageMs < CLAIM_MS;
};
