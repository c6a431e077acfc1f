// The errors of a configuration file, all at once, each with its position. A fault names keys and allowed values, never a
// value from the file, the environment or a secret file, except durations that conflict.
import { Fatal } from '../core/errors.ts';
import type { Path } from '../core/schema-place.ts';

/** An issue at an offset of the text; with line and column it becomes a fault. */
export interface OffsetIssue {
  offset: number;
  path: Path;
  message: string;
  hint?: string;
}

export interface Fault {
  file: string;
  /** From 1. */
  line: number;
  /** From 1. */
  column: number;
  /** Dotted, for example `service.timeout`; empty for the file itself. */
  path: string;
  message: string;
  hint?: string;
}

/** Further faults are counted, not listed. */
const MAX_LISTED = 50;

export class ConfigError extends Fatal {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[], cause?: unknown) {
    const sorted = faults.toSorted((a, b) => a.line - b.line || a.column - b.column);
    super(listFaults(sorted), {
      code: 'config_invalid',
      // A second hint beside one that says what to do may contradict it, such as where a restart would do.
      ...(faults.some(({ hint }) => hint === undefined) && {
        hint: 'Correct the file, then check it with `roadbook config check`.',
      }),
      cause,
    });
    this.faults = sorted;
  }
}

/** A fault of the file itself, shown at its first line. */
export function fileFault(file: string, message: string, hint: string): Fault {
  return { file, line: 1, column: 1, path: '', message, hint };
}

export function formatFault(fault: Fault): string {
  const place = fault.path === '' ? '' : `${fault.path}: `;
  const line = `${fault.file}:${fault.line}:${fault.column}  ${place}${fault.message}`;
  return fault.hint === undefined ? line : `${line}\n  Try: ${fault.hint}`;
}

function listFaults(faults: readonly Fault[]): string {
  const lines = faults.slice(0, MAX_LISTED).map(formatFault);
  const left = faults.length - lines.length;
  return left > 0 ? `${lines.join('\n')}\n… and ${left} more` : lines.join('\n');
}
