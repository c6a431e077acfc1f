// What a look of the doctor gives: ok, warn or fail, in words, with what to try.

export interface CheckResult {
  check: string;
  state: 'ok' | 'warn' | 'fail';
  found: string;
  hint: string | null;
  /** Code of the error, for a failure. */
  code?: string;
}

export type Found = Omit<CheckResult, 'check'>;

export const ok = (found: string): Found => ({ state: 'ok', found, hint: null });
export const warn = (found: string, hint: string): Found => ({ state: 'warn', found, hint });
