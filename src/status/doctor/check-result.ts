// The result of one check of the doctor: ok, warn or fail, a sentence, and a hint.

export interface CheckResult {
  check: string;
  state: 'ok' | 'warn' | 'fail';
  found: string;
  hint: string | null;
  /** The error code of a failed check. */
  code?: string;
}

export type CheckOutcome = Omit<CheckResult, 'check'>;

export const ok = (found: string): CheckOutcome => ({ state: 'ok', found, hint: null });
export const warn = (found: string, hint: string): CheckOutcome => ({ state: 'warn', found, hint });
