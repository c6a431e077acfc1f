// The documented exit codes, by the code of the error that ended the command.
import type { RunSummary } from '../../core/glossary.ts';

export const EXIT = { ok: 0, failed: 1, usage: 2, config: 3, login: 4, partial: 5, temporary: 75 } as const;

const BY_ERROR_CODE: Readonly<Record<string, number>> = {
  usage: EXIT.usage,
  config_invalid: EXIT.config,
  login_refused: EXIT.login,
  service_unreachable: EXIT.temporary,
  service_failed: EXIT.temporary,
  connection_lost: EXIT.temporary,
  timed_out: EXIT.temporary,
  throttled: EXIT.temporary,
  warehouse_locked: EXIT.temporary,
  lease_lost: EXIT.temporary,
  warehouse_conflict: EXIT.temporary,
  warehouse_unreachable: EXIT.temporary,
  queue_failed: EXIT.temporary,
  erp_unreachable: EXIT.temporary,
  erp_unavailable: EXIT.temporary,
};

export const exitCodeOf = (errorCode: string): number => BY_ERROR_CODE[errorCode] ?? EXIT.failed;

export function exitCodeOfRun({ status, error }: RunSummary): number {
  if (status === 'ok') return EXIT.ok;
  if (status === 'partial') return EXIT.partial;
  return error === null ? EXIT.failed : exitCodeOf(error.code);
}
