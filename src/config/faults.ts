// What is wrong with a configuration file, all of it at once and each at its place. A fault names keys and
// what is allowed, never a value from the file, the environment or a secret file, save durations that do not go together.
import { Fatal } from '../core/errors.ts';
import type { Path } from '../core/schema-place.ts';

/** Something wrong at an offset of the text; it becomes a fault when lines are known. */
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
  /** Dotted, as `service.timeout`; empty for the file as a whole. */
  path: string;
  message: string;
  hint?: string;
}

/** More than this are counted, not listed. */
const MOST_LISTED = 50;

export class ConfigError extends Fatal {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[], cause?: unknown) {
    const sorted = faults.toSorted((a, b) => a.line - b.line || a.column - b.column);
    super(listFaults(sorted), {
      code: 'config_invalid',
      hint: 'Correct the file, then check it with `roadbook config check`.',
      cause,
    });
    this.faults = sorted;
  }
}

/** A fault of the file as a whole, which has no better place than its beginning. */
export function fileFault(file: string, message: string, hint: string): Fault {
  return { file, line: 1, column: 1, path: '', message, hint };
}

export function formatFault(fault: Fault): string {
  const place = fault.path === '' ? '' : `${fault.path}: `;
  const line = `${fault.file}:${fault.line}:${fault.column}  ${place}${fault.message}`;
  return fault.hint === undefined ? line : `${line}\n  Try: ${fault.hint}`;
}

function listFaults(faults: readonly Fault[]): string {
  const lines = faults.slice(0, MOST_LISTED).map(formatFault);
  const left = faults.length - lines.length;
  return left > 0 ? `${lines.join('\n')}\n… and ${left} more` : lines.join('\n');
}
