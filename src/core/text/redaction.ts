// Removes secrets and personal tax numbers from every text that leaves the process: known values, anything shaped like a
// JWT, any number with valid CPF check digits. The last step before logs, errors, output and control tables.
import type { RoadbookError } from '../errors.ts';
import type { RunError } from '../glossary.ts';

export type Redactor = ReturnType<typeof createRedactor>;

export const REDACTED = '[redacted]';

/** A shorter secret is redacted only by the name of its log field. */
const SHORTEST_KNOWN_SECRET = 6;

/** The characters of a JWT, dots included. Splitting a text into such runs keeps the search linear. */
const DOTTED_RUN = /[\w.-]{10,}/g;
const JWT_BEGINNING = 'eyJ';
/** Start of a JWT, within a part between dots. */
const JWT_START = /\beyJ[\w-]{5}/;
/** Not part of a longer number, and not its decimals. */
const CPF_SHAPE = /(?<!\d|\d\.)\d{3}(?:\.\d{3}\.\d{3}-\d{2}|\d{8})(?!\d)/g;

export function createRedactor() {
  const forms = new Set<string>();
  let longestFirst: string[] = [];
  return {
    /** Redacts `secret` and its JSON- and URL-escaped forms from now on. Ignores short ones: they would redact common words. */
    add(secret: string | undefined): void {
      if (secret === undefined || secret.length < SHORTEST_KNOWN_SECRET) return;
      forms.add(secret);
      forms.add(JSON.stringify(secret).slice(1, -1));
      forms.add(encodeURIComponent(secret.toWellFormed()));
      longestFirst = [...forms].sort((a, b) => b.length - a.length);
    },
    redact(text: string): string {
      let clean = text;
      for (const form of longestFirst) {
        if (clean.includes(form)) clean = clean.replaceAll(form, REDACTED);
      }
      // Few texts have a JWT, and the search for its characters takes longer than all the rest.
      if (clean.includes(JWT_BEGINNING)) clean = clean.replace(DOTTED_RUN, withoutJwts);
      return clean.replace(CPF_SHAPE, (found) => (isCpf(found) ? REDACTED : found));
    },
  };
}

/** A JWT starts within a part and includes the next part, and a third one if present. */
function withoutJwts(run: string): string {
  if (!run.includes(JWT_BEGINNING)) return run;
  const parts = run.split('.');
  const kept: string[] = [];
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] as string;
    const start = part.search(JWT_START);
    const isJwt = start >= 0 && (parts[at + 1] ?? '') !== '';
    kept.push(isJwt ? part.slice(0, start) + REDACTED : part);
    if (isJwt) at += 2;
  }
  return kept.join('.');
}

/**
 * The JSON text of a value, with each text and name redacted separately. Redacting the finished JSON could remove a bare
 * number and leave invalid JSON.
 */
export function redactedJson(value: unknown, redact: Redactor['redact'], indent = 0): string {
  const whole = JSON.stringify(value, null, indent) ?? 'null';
  // Most values have nothing to redact, which one pass over their text shows, unless an escape could hide a part of it.
  if (!whole.includes('\\') && redact(whole) === whole) return whole;
  return JSON.stringify(redactedValue(value, redact), null, indent) ?? 'null';
}

function redactedValue(value: unknown, redact: Redactor['redact']): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value === 'number') {
    const clean = redact(String(value));
    return clean === String(value) ? value : clean;
  }
  if (Array.isArray(value)) return value.map((item) => redactedValue(item, redact));
  if (typeof value !== 'object' || value === null) return value;
  const taken = new Map<string, number>();
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [unusedName(redact(name), taken), redactedValue(inner, redact)]),
  );
}

/** Numbers names that are equal after redaction, so that no field replaces another. `taken` holds the last number. */
function unusedName(name: string, taken: Map<string, number>): string {
  let number = taken.get(name) ?? 0;
  let unused = name;
  while (taken.has(unused)) unused = `${name} ${++number}`;
  taken.set(name, Math.max(number, 1)).set(unused, 1);
  return unused;
}

/** An error in the form that runs, commands and the page show. */
export const redactedError = ({ code, message, hint }: RoadbookError, { redact }: Redactor): RunError => ({
  code,
  message: redact(message),
  hint: hint === undefined ? null : redact(hint),
});

/** True if the check digits of a personal tax number are valid; dots and dash are optional. */
export function isCpf(text: string): boolean {
  const digits = text.replace(/\D/g, '');
  if (digits.length !== 11 || /^(\d)\1+$/.test(digits)) return false;
  return checkDigit(digits, 9) === Number(digits[9]) && checkDigit(digits, 10) === Number(digits[10]);
}

function checkDigit(digits: string, length: number): number {
  let sum = 0;
  for (let i = 0; i < length; i++) sum += Number(digits[i]) * (length + 1 - i);
  return ((sum * 10) % 11) % 10;
}
