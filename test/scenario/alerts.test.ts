// Alerts against a real HTTP server and a real warehouse, on a clock that the test moves.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../src/core/log.ts';
import { createRedactor, type Redactor } from '../../src/core/text/redaction.ts';
import { createManualClock, type ManualClock } from '../../src/core/time/manual-clock.ts';
import { alertConditions, type Condition } from '../../src/status/alerts/alert-conditions.ts';
import { type Alerts, createAlerts } from '../../src/status/alerts/alerts.ts';
import type { Engine } from '../../src/warehouse/engine.ts';
import { sqlite } from '../../src/warehouse/engines/sqlite/engine.ts';
import { bringSchemaUpToDate } from '../../src/warehouse/schema/converge.ts';
import { makeWorkplace, type Workplace } from '../support/workplace.ts';

type Message = Record<'text' | 'event' | 'subject' | 'state' | 'was' | 'at', string>;

let place: Workplace;
let engine: Engine;
let clock: ManualClock;
let redactor: Redactor;
let server: Server;
let address: string;
let received: Message[];
/** Statuses to answer with, before 200. */
let answers: number[];
/** Where the answers point to. */
let movedTo: string | undefined;
let logLines: string[];

beforeEach(async () => {
  place = makeWorkplace('');
  clock = createManualClock(Date.parse('2026-03-02T08:00:00.000Z'));
  redactor = createRedactor();
  received = [];
  answers = [];
  movedTo = undefined;
  logLines = [];
  engine = await sqlite.open({ file: join(place.dir, 'warehouse.db') });
  await bringSchemaUpToDate(engine);
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const status = answers.shift() ?? 200;
    if (status === 200) received.push(JSON.parse(body));
    response.writeHead(status, movedTo === undefined ? {} : { location: movedTo }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/very-secret-part`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await engine.close();
  place.remove();
});

const job = (state: string, text = `pull-events is ${state}`): Condition => ({
  subject: 'job pull-events',
  state,
  text,
});

const needs = (reason: string): Condition => ({
  subject: `outbox ${reason}`,
  state: reason,
  text: `2 items: ${reason}. Try: look at them`,
});

/** Alerts of a daemon whose current problems the test sets. */
function alertsOf(seen: { now: Condition[] }, webhook = address): Alerts {
  const log = createLog({ level: 'debug', redactor, write: (line) => logLines.push(line) });
  return createAlerts({ engine, clock, log, redactor, webhook: () => webhook, look: async () => seen.now });
}

/** Retries wait on the test's clock. */
async function runAndSend(alerts: Alerts): Promise<void> {
  let isDone = false;
  const work = alerts.runOnce().finally(() => {
    isDone = true;
  });
  while (!isDone) {
    if (clock.sleepers() > 0) await clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await work;
}

const sentTexts = () => received.map(({ event, subject, was, state }) => `${event} ${subject}: ${was} → ${state}`);

describe('alerts', () => {
  it('report each change once, and the recovery once', async () => {
    const seen: { now: Condition[] } = { now: [] };
    const alerts = alertsOf(seen);
    for (const state of ['ok', 'failing', 'failing', 'failing', 'late', 'ok', 'ok', 'failing']) {
      seen.now = state === 'ok' ? [] : [job(state)];
      await runAndSend(alerts);
    }
    expect(sentTexts()).toEqual([
      'alert job pull-events: ok → failing',
      'alert job pull-events: failing → late',
      'recovery job pull-events: late → ok',
      'alert job pull-events: ok → failing',
    ]);
    expect(received[0]?.text).toMatch(/^Roadbook on .+: pull-events is failing$/);
  });

  it('of the outbox report each reason separately', async () => {
    const seen: { now: Condition[] } = { now: [] };
    const alerts = alertsOf(seen);
    const both = [needs('found_twice'), needs('not_acknowledged')];
    for (const now of [[], [needs('found_twice')], [needs('found_twice')], both, [needs('not_acknowledged')], []]) {
      seen.now = now;
      await runAndSend(alerts);
    }
    expect(sentTexts()).toEqual([
      'alert outbox found_twice: ok → found_twice',
      'alert outbox not_acknowledged: ok → not_acknowledged',
      'recovery outbox found_twice: found_twice → ok',
      'recovery outbox not_acknowledged: not_acknowledged → ok',
    ]);
    expect(received.at(0)?.text).toMatch(/: 2 items: found_twice\. Try: look at them$/);
    expect(received.at(-1)?.text).toMatch(/: outbox not_acknowledged: no longer not acknowledged$/);
  });

  it('report each further item of a reason, but not that one of several was corrected', async () => {
    const seen: { now: Condition[] } = { now: [] };
    const alerts = alertsOf(seen);
    for (const minute of ['10', '10', '20', '10', '20', '30', '']) {
      seen.now = minute === '' ? [] : [{ ...needs('rejected'), newest: `2026-03-02T08:${minute}:00.000Z` }];
      await runAndSend(alerts);
    }
    expect(sentTexts()).toEqual([
      'alert outbox rejected: ok → rejected',
      'alert outbox rejected: rejected → rejected',
      'alert outbox rejected: rejected → rejected',
      'recovery outbox rejected: rejected → ok',
    ]);
  });

  it('are raised by what needs a person, and not by a pause or a job that has not run yet', () => {
    const reason = { health: 'attention', text: 'x', hint: null, place: '' } as const;
    const codes = ['job_paused', 'job_never_ran', 'push_unclear', 'job_failing', 'push_rejected', 'config_rejected'];
    const conditions = alertConditions(codes.map((code) => ({ ...reason, code, subject: code })));
    expect(conditions.map(({ state }) => state)).toEqual(['failing', 'rejected', 'rejected']);
  });

  it('are neither repeated nor lost by a restart', async () => {
    const seen = { now: [job('failing')] };
    await runAndSend(alertsOf(seen));
    await runAndSend(alertsOf(seen));
    expect(sentTexts()).toEqual(['alert job pull-events: ok → failing']);
    seen.now = [];
    await runAndSend(alertsOf(seen));
    expect(sentTexts()).toHaveLength(2);
  });

  it('of two daemons are sent by one', async () => {
    const seen = { now: [job('failing'), needs('unknown')] };
    const other = await sqlite.open({ file: join(place.dir, 'warehouse.db') });
    const log = createLog({ level: 'silent', redactor });
    const second = createAlerts({
      engine: other,
      clock,
      log,
      redactor,
      webhook: () => address,
      look: async () => seen.now,
    });
    await Promise.all([alertsOf(seen).runOnce(), second.runOnce()]);
    await other.close();
    expect(sentTexts().sort()).toEqual(['alert job pull-events: ok → failing', 'alert outbox unknown: ok → unknown']);
  });

  it('are retried while the webhook is down briefly', async () => {
    answers = [503, 429, 500];
    await runAndSend(alertsOf({ now: [job('failing')] }));
    expect(sentTexts()).toEqual(['alert job pull-events: ok → failing']);
  });

  it('that could not be sent are sent later with the current state', async () => {
    const seen = { now: [job('failing')] };
    const alerts = alertsOf(seen);
    answers = [404];
    await runAndSend(alerts);
    await runAndSend(alerts);
    expect(sentTexts()).toEqual([]);
    expect(logLines.join('')).toContain('alert_refused');
    await clock.advance(300_000);
    await runAndSend(alerts);
    expect(sentTexts()).toEqual(['alert job pull-events: ok → failing']);
  });

  it.each([301, 302, 303, 307, 308])('follow no redirect (%i): the message is for one address only', async (status) => {
    const arrived: string[] = [];
    const elsewhere = createServer((request, response) => {
      arrived.push(`${request.method} ${request.url}`);
      response.end();
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    try {
      movedTo = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/taken`;
      answers = [status];
      await runAndSend(alertsOf({ now: [job('failing')] }));
      expect(answers).toEqual([]);
      expect(arrived).toEqual([]);
      expect(sentTexts()).toEqual([]);
      expect(logLines.join('')).toContain(`rejected the message (${status})`);
    } finally {
      elsewhere.closeAllConnections();
      await new Promise((resolve) => elsewhere.close(resolve));
    }
  });

  it('of a problem that ended before its message could be sent are dropped', async () => {
    const seen = { now: [job('failing')] };
    const alerts = alertsOf(seen);
    answers = [404];
    await runAndSend(alerts);
    seen.now = [];
    await clock.advance(300_000);
    await runAndSend(alerts);
    expect(sentTexts()).toEqual([]);
  });

  it('contain no secret, tax number or chat command, and no log line contains the address', async () => {
    redactor.add('a-very-secret-word');
    redactor.add(address);
    answers = [500, 500, 500, 500];
    const text = 'failing: <!channel> 529.982.247-25 & a-very-secret-word';
    const alerts = alertsOf({ now: [job('failing', text)] });
    await runAndSend(alerts);
    await clock.advance(300_000);
    await runAndSend(alerts);
    expect(received[0]?.text).toContain('&lt;!channel&gt; [redacted] &amp; [redacted]');
    expect(logLines.join('')).not.toContain('very-secret');
  });

  it('are not evaluated when no webhook is configured', async () => {
    const alerts = createAlerts({
      engine,
      clock,
      log: createLog({ level: 'silent', redactor }),
      redactor,
      webhook: () => '',
      look: () => Promise.reject(new Error('looked')),
    });
    await alerts.runOnce();
    expect(received).toEqual([]);
  });
});
