// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the tests use ${…} references.
import { describe, expect, test } from 'vitest';
import { FILE, rejection } from './config-declarations.ts';
import { wrongConfigs, wrongEnvironment } from './wrong-configs.ts';

/** A usual machine takes a fifth of it; work that grows with the square of the file takes minutes. */
const QUICK_MS = 5_000;

/** CPU time of this thread: other load of the machine does not count. */
const workedMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

describe.each(Object.entries(wrongConfigs))('wrong %s', (_group, wrongs) => {
  test.each(wrongs)('%j is rejected at its place with a hint', (text, path, at, hint) => {
    const startedAt = workedMs();
    const { faults, message } = rejection(text, wrongEnvironment);
    expect(workedMs() - startedAt).toBeLessThan(QUICK_MS);
    const [first] = faults;
    if (at === '') expect(first).toMatchObject({ file: FILE });
    else expect(`${first?.path} ${first?.line}:${first?.column}`).toBe(`${path} ${at}`);
    expect(first?.hint).toContain(hint);
    expect(message).toContain(`${FILE}:${first?.line}:${first?.column}  `);
    expect(faults.length).toBeLessThanOrEqual(at === '' ? 1_000 : 1);
  });
});

test('there are more than 200 of them', () => {
  expect(Object.values(wrongConfigs).flat().length).toBeGreaterThan(200);
});

test('all issues of a file are reported at once, in the order of the file', () => {
  const { faults, message } = rejection(
    'timezone: Nowhere/None\nservice:\n  timeout: 60\n  password: ${NOT_SET}\n  realm: a\n  realm: b\nstatus: { prot: 1, port: x }\n',
  );
  expect(faults.map(({ line, column, path }) => `${line}:${column} ${path}`)).toEqual([
    '1:11 timezone',
    '3:12 service.timeout',
    '4:13 service.password',
    '6:3 service.realm',
    '7:11 status.prot',
    '7:26 status.port',
  ]);
  expect(message).toContain(
    'config/roadbook.yaml:3:12  service.timeout: expected a duration, got a number\n  Try: for example `90s`',
  );
});

test('a section without its first line is one issue: the lines below are misread because of it', () => {
  const lines = [
    'alerts: { webhook: "" }',
    '',
    ...['vehicles', 'drivers', 'events'].map((name) => `  pull-${name}: {}`),
  ];
  expect(rejection(lines.join('\n')).faults).toHaveLength(1);
});

test('an issue whose hint says what to do gets no second hint', () => {
  const { hint, message } = rejection('status: { prot: 1 }');
  expect(message).toContain('Try: did you mean `port`?');
  expect(hint).toBeUndefined();
});

test('a file with thousands of issues is rejected quickly, and the list is cut', () => {
  const text = Array.from({ length: 6_000 }, (_, n) => `key${n}: 1`).join('\n');
  const startedAt = workedMs();
  const { message, faults } = rejection(text);
  expect(workedMs() - startedAt).toBeLessThan(QUICK_MS);
  expect(faults).toHaveLength(6_000);
  expect(message).toContain('… and 5950 more');
});

test.each(['[', '{a: ', '- ', '"', '? ', '&a ', '!a ', '*a ', 'a: *a\n', 'a: ${X}\n', '${A:-', '<<: ', 'a:\n '])(
  'a file of the largest size made of %j is rejected quickly',
  (chunk) => {
    const startedAt = workedMs();
    const { faults } = rejection(chunk.repeat(Math.floor(65_536 / chunk.length)));
    expect(workedMs() - startedAt).toBeLessThan(QUICK_MS);
    expect(faults.length).toBeGreaterThan(0);
  },
);
