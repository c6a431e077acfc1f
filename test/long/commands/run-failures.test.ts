// The real command against a service that answers wrongly: it says so in plain words and loads nothing.
import { expect, it } from 'vitest';
import { type Fault, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { configFor, makeWorkplace } from '../../support/process/workplace.ts';

// Run together, because most of them wait for their retries.
it('run reports failures in plain words with the right exit code, and loads nothing', async () => {
  const cases: WrongAnswer[] = [
    { fault: { fault: 'html' }, words: /HTML/, exit: 1 },
    { fault: { fault: 'truncated' }, words: /connection was lost/, exit: 75 },
    { fault: { fault: 'empty' }, words: /GET \/vehicle\/ failed/, exit: 1 },
    { fault: { fault: '503' }, words: /answered 503/, exit: 75 },
    { fault: { fault: '403' }, words: /answered 403/, exit: 1 },
    // Over the limit: rejected without being read in full.
    { fault: { fault: 'huge', bytes: 50_000_000 }, code: 'body_too_large', exit: 1 },
    { isAway: true, code: 'service_unreachable', exit: 75 },
  ];
  await Promise.all(cases.map(meetWrongAnswer));
});

interface WrongAnswer {
  fault?: Omit<Fault, 'call'>;
  /** Nothing listens at the address. */
  isAway?: true;
  words?: RegExp;
  code?: string;
  exit: number;
}

async function meetWrongAnswer({ fault, isAway, words = /./, code, exit }: WrongAnswer): Promise<void> {
  const broken = await startSandbox({ faults: fault ? [{ call: 'vehicles', ...fault }] : [] });
  const own = makeWorkplace(configFor(broken.url, '  max_body_mb: 1\n'));
  if (isAway) await broken.close();
  const ended = await own.runHere(['run', 'pull-vehicles', '--json']);
  const { status, error } = JSON.parse(ended.stdout);
  const which = fault?.fault ?? 'away';
  expect(status, which).toBe('failed');
  expect(error.message).toMatch(words);
  if (isAway) expect(error.message).not.toContain(new URL(broken.url).port);
  if (code !== undefined) expect(error.code).toBe(code);
  expect(error.hint, which).toBeTruthy();
  expect(ended.stderr).toBe('');
  expect(ended.code, which).toBe(exit);
  expect(await own.query('select * from vehicle')).toEqual([]);
  expect(await own.query('select * from sync_coverage')).toEqual([]);
  own.remove();
  await broken.close();
}
