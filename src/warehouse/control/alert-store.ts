// The last reported state of each alert subject, stored in the warehouse: a restart neither repeats nor loses an alert,
// and only one of several daemons reports it. A daemon claims an alert before it reports it. An unfinished claim expires.
import { isoInstant } from '../../core/time/clock.ts';
import type { Engine } from '../engine.ts';

/** The state of a subject that has no report yet. */
export const NOTHING_REPORTED = 'ok';

/** Longer than sending a message takes, with all its retries. */
const CLAIM_MS = 300_000;

interface Reported {
  state: string;
  claim: { state: string; at: string } | null;
}

const nameOf = (subject: string): string => `alert ${subject}`;

/** By subject: the last reported state. Includes subjects whose first report is under way. */
export const reportedStates = (engine: Engine): Promise<Map<string, string>> =>
  engine.read(async (sql) => {
    const rows = await sql('sync_state')
      .where('name', 'like', `${nameOf('')}%`)
      .select('name', 'value');
    return new Map(
      rows.map(({ name, value }) => [name.slice(nameOf('').length), (JSON.parse(value) as Reported).state]),
    );
  });

/** Returns the last reported state if the caller may report `state`; undefined if there is nothing to report. */
export function claimAlert(engine: Engine, subject: string, state: string, nowMs: number): Promise<string | undefined> {
  const name = nameOf(subject);
  return engine.write(async ({ sql }) => {
    const nothing: Reported = { state: NOTHING_REPORTED, claim: null };
    const first = { name, value: JSON.stringify(nothing), updated_at: isoInstant(0) };
    await sql('sync_state').insert(first).onConflict('name').ignore();
    const row = await sql('sync_state').where({ name }).first('value', 'updated_at');
    const last = JSON.parse(row.value) as Reported;
    if (last.state === state || isClaimed(last, nowMs)) return undefined;
    const claimed: Reported = { state: last.state, claim: { state, at: isoInstant(nowMs) } };
    // If another process claims the alert first, `updated_at` differs and this update matches no row.
    const claims = await sql('sync_state')
      .where({ name, updated_at: row.updated_at })
      .update({ value: JSON.stringify(claimed), updated_at: after(row.updated_at, nowMs) });
    return claims === 1 ? last.state : undefined;
  });
}

export async function recordAlert(engine: Engine, subject: string, state: string, nowMs: number) {
  const reported: Reported = { state, claim: null };
  const row = { name: nameOf(subject), value: JSON.stringify(reported), updated_at: isoInstant(nowMs) };
  await engine.write(({ sql }) => sql('sync_state').insert(row).onConflict('name').merge());
}

const isClaimed = ({ claim }: Reported, nowMs: number): boolean => {
  if (claim === null) return false;
  const ageMs = nowMs - Date.parse(claim.at);
  // A claim dated in the future is from before the clock was set back. It is ignored, or it would block the alert.
  return ageMs >= 0 && ageMs < CLAIM_MS;
};

/** Always later than `before`, so that every write changes `updated_at`. */
const after = (before: string, nowMs: number): string => isoInstant(Math.max(nowMs, Date.parse(before) + 1));
