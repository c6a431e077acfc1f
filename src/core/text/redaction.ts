// Takes secrets and people's tax numbers out of any text that leaves the process: known values, anything
// shaped like a JWT, anything that is a CPF by its check digits. The last gate before logs, errors, output
// and control tables, whatever path the value came by.

export interface Redactor {
  /** Makes `secret` (and its JSON- and URL-escaped forms) known; short ones would blot out common words. */
  add(secret: string | undefined): void;
  redact(text: string): string;
}

export const REDACTED = '[redacted]';

/** A secret shorter than this is redacted by its path only. */
const SHORTEST_KNOWN_SECRET = 6;

/** All that a JWT is made of, its dots too: a text is divided into these, so that each character is looked at once. */
const DOTTED_RUN = /[\w.-]{10,}/g;
/** Within a part between dots. */
const JWT_START = /\beyJ[\w-]{5}/;
/** Not a part of a longer number, nor the decimals of one. */
const CPF_SHAPE = /(?<!\d|\d\.)(?:\d{3}\.\d{3}\.\d{3}-\d{2}|\d{11})(?!\d)/g;

export function createRedactor(): Redactor {
  const forms = new Set<string>();
  let longestFirst: string[] = [];
  return {
    add(secret) {
      if (secret === undefined || secret.length < SHORTEST_KNOWN_SECRET) return;
      forms.add(secret);
      forms.add(JSON.stringify(secret).slice(1, -1));
      forms.add(encodeURIComponent(secret.toWellFormed()));
      longestFirst = [...forms].sort((a, b) => b.length - a.length);
    },
    redact(text) {
      let clean = text;
      for (const form of longestFirst) {
        if (clean.includes(form)) clean = clean.replaceAll(form, REDACTED);
      }
      return clean
        .replace(DOTTED_RUN, withoutJwts)
        .replace(CPF_SHAPE, (found) => (isCpf(found) ? REDACTED : found));
    },
  };
}

/** A JWT begins within a part and takes the next one with it, and one more where there is one. */
function withoutJwts(run: string): string {
  if (!run.includes('eyJ')) return run;
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
 * The JSON text of a value, its texts and names redacted one by one: redacting the finished text could take a number
 * out of it and leave no JSON.
 */
export function redactedJson(value: unknown, redact: Redactor['redact']): string {
  return JSON.stringify(redactedValue(value, redact)) ?? 'null';
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
    Object.entries(value).map(([name, inner]) => [
      unusedName(redact(name), taken),
      redactedValue(inner, redact),
    ]),
  );
}

/** Names that are alike once redacted are numbered, so that no field takes another's place; `taken` has the last number. */
function unusedName(name: string, taken: Map<string, number>): string {
  let number = taken.get(name) ?? 0;
  let unused = name;
  while (taken.has(unused)) unused = `${name} ${++number}`;
  taken.set(name, Math.max(number, 1)).set(unused, 1);
  return unused;
}

/** True where the check digits of a personal tax number are right; dots and dash are optional. */
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
