// Edits that no careful person makes: config/roadbook.yaml with chunks deleted, doubled, moved or inserted at random. The
// file is accepted, or rejected with the place of every error; nothing else may happen.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { ConfigError } from '../../../src/config/faults.ts';
import { parseConfig } from '../../../src/config/load.ts';
import type { ConfigDeclarations } from '../../../src/config/schema.ts';

const FILE = 'config/roadbook.yaml';
const ORIGINAL = readFileSync(join(import.meta.dirname, '../../..', FILE), 'utf8');

const CHUNKS = [
  ...[':', ': ', '- ', '? ', '&a ', '*a', '<<: *a\n', '!!binary ', '!!js/function ', '%YAML 1.2\n', '---\n', '...\n'],
  ...['{', '}', '[', ']', '"', "'", '|\n', '>-\n', '#', '\t', '\n', '\r', '\0', '\u{feff}', '\u2028', '\ud800', '🚚'],
  ...[
    '${',
    `\${}`,
    `\${HOME}`,
    '${file:',
    `\${file:/}`,
    `\${file:no-such-file}`,
    `\${A:-\${B}}`,
    '$',
    '~',
    'null',
    'true',
  ],
  ...['1e999', '-0', '.inf', '.nan', '0x10', '99999999999999999999', '1:2:3', '2026-01-01', '-1s', '9999999d'],
  ...['__proto__: { polluted: 1 }\n', 'constructor: 1\n', 'toString: 1\n', 'x'.repeat(2_000), '[['.repeat(200)],
] as const;

type Edit = (text: string) => string;

const place = fc.nat({ max: ORIGINAL.length });
const edits: fc.Arbitrary<Edit> = fc.oneof(
  fc.tuple(place, fc.nat({ max: 60 })).map(
    ([at, length]): Edit =>
      (text) =>
        text.slice(0, at) + text.slice(at + length),
  ),
  fc.tuple(place, fc.oneof(fc.constantFrom(...CHUNKS), fc.string({ unit: 'binary', maxLength: 8 }))).map(
    ([at, chunk]): Edit =>
      (text) =>
        text.slice(0, at) + chunk + text.slice(at),
  ),
  fc.tuple(place, place, fc.nat({ max: 200 })).map(
    ([from, to, length]): Edit =>
      (text) =>
        text.slice(0, to) + text.slice(from, from + length) + text.slice(to),
  ),
  place.map(
    (at): Edit =>
      (text) =>
        text.slice(0, at),
  ),
  // The value of a line is another one.
  fc.tuple(fc.nat({ max: 60 }), fc.constantFrom(...CHUNKS)).map(
    ([at, chunk]): Edit =>
      (text) =>
        text
          .split('\n')
          .map((line, index) => (index === at ? line.replace(/:.*/, () => `: ${chunk}`) : line))
          .join('\n'),
  ),
);

export const editedConfigs: fc.Arbitrary<string> = fc
  .array(edits, { minLength: 1, maxLength: 4 })
  .map((all) => all.reduce((text, edit) => edit(text), ORIGINAL));

/** `accepted`, or `rejected` with a place and a message for every error; throws otherwise. */
export function tryConfig(text: string, declarations: ConfigDeclarations): 'accepted' | 'rejected' {
  try {
    parseConfig(text, FILE, declarations, { HOME: 'somewhere' });
    return 'accepted';
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const lines = text.split(/\r\n|\r|\n/).length;
    const isPlaced = error.faults.every(
      ({ line, column, message }) => line >= 1 && line <= lines + 1 && column >= 1 && message !== '',
    );
    const isReported = error.faults.length > 0 && /^config\/roadbook\.yaml:\d+:\d+ {2}\S/.test(error.message);
    if (!isPlaced || !isReported) throw new Error(`rejected without a place: ${error.message}`);
    if (({} as { polluted?: unknown }).polluted !== undefined) throw new Error('prototype polluted');
    return 'rejected';
  }
}
