// Which state of each subject was last told, kept in the warehouse: a restart neither repeats nor loses an alert,
// and of several daemons one tells it. Who tells one claims it first; a claim that nothing came of lapses.
import { isoInstant } from '../../core/time/clock.ts';
import type { Engine } from '../engine.ts';

/** Told of a subject that nothing was told of. */
export const NOTHING_REPORTED = 'ok';

/** Longer than a message with all its retries may take. */
const CLAIM_MS = 300_000;

interface Reported {
  state: string;
  claim: { state: string; at: string } | null;
}

const nameOf = (subject: string): string => `alert ${subject}`;

/** The subjects of which something was told or is being told, and the state that was told last. */
export const reportedStates = (engine: Engine): Promise<Map<string, string>> =>
  engine.read(async (sql) => {
    const rows = await sql('sync_state')
      .where('name', 'like', `${nameOf('')}%`)
      .select('name', 'value');
    return new Map(
      rows.map(({ name, value }) => [name.slice(nameOf('').length), (JSON.parse(value) as Reported).state]),
    );
  });

/** The state that was told last, for the one who gets to tell this one; undefined where there is nothing to tell. */
export function claimAlert(
  engine: Engine,
  subject: string,
  state: string,
  nowMs: number,
): Promise<string | undefined> {
  const name = nameOf(subject);
  return engine.write(async ({ sql }) => {
    const nothing: Reported = { state: NOTHING_REPORTED, claim: null };
    const first = { name, value: JSON.stringify(nothing), updated_at: isoInstant(0) };
    await sql('sync_state').insert(first).onConflict('name').ignore();
    const row = await sql('sync_state').where({ name }).first('value', 'updated_at');
    const told = JSON.parse(row.value) as Reported;
    if (told.state === state || isHeld(told, nowMs)) return undefined;
    const claimed: Reported = { state: told.state, claim: { state, at: isoInstant(nowMs) } };
    // Whoever comes second finds another mark.
    const mine = await sql('sync_state')
      .where({ name, updated_at: row.updated_at })
      .update({ value: JSON.stringify(claimed), updated_at: after(row.updated_at, nowMs) });
    return mine === 1 ? told.state : undefined;
  });
}

export async function recordAlert(engine: Engine, subject: string, state: string, nowMs: number) {
  const told: Reported = { state, claim: null };
  const row = { name: nameOf(subject), value: JSON.stringify(told), updated_at: isoInstant(nowMs) };
  await engine.write(({ sql }) => sql('sync_state').insert(row).onConflict('name').merge());
}

const isHeld = ({ claim }: Reported, nowMs: number): boolean => {
  if (claim === null) return false;
  const ageMs = nowMs - Date.parse(claim.at);
  // A claim from the future comes of a clock that was set back: it holds nothing up.
  return ageMs >= 0 && ageMs < CLAIM_MS;
};

/** Later than before, so that no two writers can leave the same mark. */
const after = (before: string, nowMs: number): string => isoInstant(Math.max(nowMs, Date.parse(before) + 1));
