// The log as people see it on a terminal, and how much of it there is: one line for a run that did something, one at each
// end of an outage.
import { describe, expect, it } from 'vitest';
import { Fatal, Retriable } from '../../../src/core/errors.ts';
import { createLog } from '../../../src/core/log.ts';
import { createPrettifier } from '../../../src/core/log-lines.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { createOutages } from '../../../src/sync/outages.ts';

function lines(write: (log: ReturnType<typeof createLog>) => void, colour = false): string {
  const printed: string[] = [];
  const redactor = createRedactor();
  redactor.add('hunter2-secret');
  const prettify = createPrettifier(colour, 'America/Sao_Paulo');
  write(createLog({ level: 'info', redactor, prettify, write: (line) => void printed.push(line) }));
  return printed.join('').replaceAll(/\[\d\d:\d\d:\d\d\]/g, '[HH:MM:SS]');
}

describe('a line on a terminal', () => {
  it('says what a run did, without zeros', () => {
    const fields = { cause: 'schedule', status: 'ok', duration_ms: 1_234, requests: 3, records: 40, inserted: 2 };
    const child = { job: 'pull-vehicles', run_id: '0f' };
    expect(lines((log) => log.child(child).info(fields, 'run finished'))).toBe(
      '[HH:MM:SS] INFO: pull-vehicles: ok in 1.2s, 40 records, 2 inserted\n',
    );
  });

  it('says why a run failed, what to try, and when it is tried again, in the zone of the configuration', () => {
    const error = { code: 'service_unreachable', message: 'no connection to the service', hint: 'Check the network.' };
    const fields = { status: 'failed', duration_ms: 900, attempt: 2, error, retry_at: '2026-03-10T12:00:00.000Z' };
    expect(lines((log) => log.child({ job: 'pull-drivers' }).error(fields, 'run finished'))).toBe(
      '[HH:MM:SS] ERROR: pull-drivers: failed in 900ms at try 2: no connection to the service. Try: Check the network. Next try by 09:00:00\n',
    );
  });

  it('shows other fields after the message, and neither secrets nor control characters', () => {
    const text = lines((log) => {
      log.info({ url: 'http://x', password: 'p' }, 'status page is up');
      log.warn({ err: new Fatal('wrong \u001b[2J hunter2-secret', { code: 'x' }) }, 'odd');
    });
    expect(text).toContain('status page is up, url http://x, password [redacted]\n');
    expect(text).toContain('odd: wrong \\u001b[2J [redacted]');
    expect(text).not.toContain('\u001b');
    expect(text).not.toContain('hunter2');
  });

  it('is coloured if the terminal has colours', () => {
    expect(lines((log) => log.warn('x'), true)).toContain('\u001b[33mWARN');
  });
});

describe('an outage', () => {
  const AWAY = new Retriable('no connection', { code: 'service_unreachable' });
  const note = (outages: ReturnType<typeof createOutages>, job: string, nowMs: number, ...failures: Fatal[]) =>
    outages.note({ job, failures, requests: 1, startedMs: nowMs, nowMs });

  it('is news for the first run that meets it, and over with the first that gets through', () => {
    const outages = createOutages();
    expect(note(outages, 'a', 0, AWAY)).toEqual({ isKnown: false, over: [] });
    expect(note(outages, 'b', 1, AWAY, AWAY)).toEqual({ isKnown: true, over: [] });
    expect(outages.note({ job: 'c', failures: [], requests: 0, startedMs: 2, nowMs: 2 }).over).toEqual([]);
    // It may have had no answer.
    expect(note(outages, 'c', 2, new Fatal('end', { code: 'stopped' })).over).toEqual([]);
    // Its calls may have been made before the outage.
    expect(outages.note({ job: 'd', failures: [], requests: 1, startedMs: -1, nowMs: 3 }).over).toEqual([]);
    expect(note(outages, 'b', 9, new Fatal('login', { code: 'login_refused' }))).toEqual({
      isKnown: false,
      over: [{ system: 'service', ms: 9 }],
    });
    expect(note(outages, 'a', 10, AWAY).isKnown).toBe(false);
  });

  it('does not hide another failure, and one of the ERP is over only for its own job', () => {
    const outages = createOutages();
    const erp = new Retriable('feed', { code: 'erp_unreachable' });
    note(outages, 'push', 0, erp);
    expect(note(outages, 'push', 1, erp, AWAY).isKnown).toBe(false);
    expect(note(outages, 'pull', 2).over).toEqual([{ system: 'service', ms: 1 }]);
    expect(note(outages, 'push', 3).over).toEqual([{ system: 'erp_unreachable', ms: 3 }]);
  });
});
