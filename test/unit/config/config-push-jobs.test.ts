// The configuration of push jobs: their option `settle`, and removed options.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the tests use ${…} references.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { parseConfig } from '../../../src/config/load.ts';
import type { ConfigDeclarations } from '../../../src/config/schema.ts';
import { durationOption } from '../../../src/core/time/duration-option.ts';
import { declarations, FILE, parse, rejection } from './config-declarations.ts';

const withSettle = { schedule: '* * * * *', options: z.object({ settle: durationOption('2m', 'Wait.') }) };
const declared: ConfigDeclarations = {
  ...declarations,
  jobs: {
    ...declarations.jobs,
    'push-route-plans': withSettle,
    'push-points-of-interest': withSettle,
    'pull-route-plans': withSettle,
  },
};

const issuesOf = (text: string, env: Record<string, string> = {}) =>
  rejection(text, env, declared).faults.map(({ line, column, path, message, hint }) => ({
    at: `${line}:${column} ${path}`,
    message,
    hint,
  }));

describe('`settle` of a push job', () => {
  test.each([
    '',
    'service: { timeout: 119s }',
    'jobs: { push-route-plans: { settle: 61s } }',
    'service: { timeout: 1s }\njobs: { push-route-plans: { settle: 1001ms } }',
    'jobs: { pull-route-plans: { settle: 1s } }',
  ])('%j is accepted', (text) => {
    expect(parse(text, {}, declared).error).toBeNull();
  });

  test.each([
    ['jobs: { push-route-plans: { settle: 1m } }', '1:37 jobs.push-route-plans.settle', '1m', '1m'],
    [
      'service: { timeout: 5m }\njobs:\n  push-route-plans: { enabled: false, settle: 90s }\n  push-points-of-interest: { settle: 6m }',
      '3:47 jobs.push-route-plans.settle',
      '1m 30s',
      '5m',
    ],
    ['service:\n  timeout: 2m', '2:12 service.timeout', '2m', '2m'],
    ['service: { timeout: 1h }\njobs:\n', '1:21 service.timeout', '2m', '1h'],
  ])('%j is rejected at its place in the file', (text, at, settle, timeout) => {
    expect(issuesOf(text)).toEqual([
      {
        at,
        message: `\`settle\` of a push job (${settle}) must be longer than \`service.timeout\` (${timeout})`,
        hint: 'raise `settle`, or lower `service.timeout`',
      },
    ]);
  });

  test('is rejected at each place that the file has, by value or by reference', () => {
    const text = 'service: { timeout: "${T}" }\njobs:\n  push-points-of-interest: { settle: "${S}" }\n';
    expect(issuesOf(text, { T: '3m', S: '170s' }).map(({ at }) => at)).toEqual([
      '1:21 service.timeout',
      '3:38 jobs.push-points-of-interest.settle',
    ]);
  });

  test('is not compared while either has another issue', () => {
    expect(issuesOf('service: { timeout: 5 }').map(({ at }) => at)).toEqual(['1:21 service.timeout']);
    expect(
      issuesOf('service: { timeout: 5m, base_url: nowhere }\njobs: { pull-events: { lookback: 31d } }'),
    ).toHaveLength(2);
  });

  test('and the timeout take their defaults for a reader that tolerates issues', () => {
    const tolerant = (text: string) => parseConfig(text, FILE, declared, {}, { tolerant: true });
    const short = tolerant('jobs: { push-route-plans: { settle: 1s } }');
    expect(short.error?.faults).toHaveLength(1);
    expect(short.config.jobs['push-route-plans']?.options).toEqual({ settle: 120_000 });
    const slow = tolerant('service: { timeout: 10m, realm: x }\njobs: { push-route-plans: { enabled: false } }');
    expect(slow.config.service).toMatchObject({ timeoutMs: 60_000, realm: 'x' });
    expect(slow.config.jobs['push-route-plans']).toMatchObject({ enabled: false });
    const both = tolerant('service: { timeout: 10m }\njobs: { push-route-plans: { settle: 5m } }');
    expect(both.config.service.timeoutMs).toBe(60_000);
  });
});

describe('a removed or renamed option', () => {
  test.each([
    ['push-route-plans', 'check_before_send', 'every item is looked up'],
    ['push-points-of-interest', 'check_before_send', 'every item is looked up'],
    ['push-points-of-interest', 'match', 'by its id if known, else by its title'],
  ])('%s.%s is rejected, and the message names its replacement', (job, key, words) => {
    const [fault, ...others] = issuesOf(`jobs:\n  ${job}:\n    ${key}: x\n`);
    expect(others).toEqual([]);
    expect(fault).toMatchObject({ at: `3:5 jobs.${job}.${key}`, message: 'is not a known field' });
    expect(fault?.hint).toMatch(/^the option was removed: .*; delete the line$/);
    expect(fault?.hint).toContain(words);
  });

  test('that was renamed is rejected with its new name', () => {
    expect(issuesOf('jobs:\n  push-route-plans:\n    keep_refused: 7d\n')).toEqual([
      expect.objectContaining({
        message: 'is not a known field',
        hint: 'the option was renamed: write `keep_rejected`',
      }),
    ]);
  });

  test.each(['jobs: { push-route-plans: { match: x } }', 'jobs: { pull-events: { check_before_send: x } }'])(
    'is not reported for %j, which never had it',
    (text) => {
      expect(issuesOf(text)[0]?.hint).toContain('use one of');
    },
  );
});
