// Alerts against a real HTTP server and a real warehouse, on a clock that the test moves.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configDeclarations, loadJobs } from '../../../src/app/app.ts';
import { daemonAlerts } from '../../../src/cli/daemon-alerts.ts';
import { parseConfig } from '../../../src/config/load.ts';
import { createLog } from '../../../src/core/log.ts';
import { createRedactor, type Redactor } from '../../../src/core/text/redaction.ts';
import { createManualClock, type ManualClock } from '../../../src/core/time/manual-clock.ts';
import { type Alerts, alertConditions, type Condition, createAlerts } from '../../../src/status/alerts/alerts.ts';
import { writeFact } from '../../../src/warehouse/control/learned-facts.ts';
import { quarantine, quarantineRows } from '../../../src/warehouse/control/quarantine.ts';
import type { Engine } from '../../../src/warehouse/engine.ts';
import { sqlite } from '../../../src/warehouse/engines/sqlite/engine.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import { event } from '../../../src/warehouse/tables/event.ts';
import { heartbeatOn, processElsewhere } from '../../support/daemons/lease-manager.ts';
import { makeWorkplace, type Workplace } from '../../support/process/workplace.ts';
import { makePushPlace } from '../../support/push/push-place.ts';
import { plan } from '../../support/push/push-samples.ts';
import { metadataAt } from '../../support/warehouse/load-metadata.ts';

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
  newest: null,
  text,
});

const needs = (reason: string): Condition => ({
  subject: `outbox ${reason}`,
  state: reason,
  newest: null,
  text: `2 items: ${reason}. Try: look at them`,
});

/** Alerts of a daemon whose current problems the test sets. */
function alertsOf(seen: { now: Condition[] }, webhook = address): Alerts {
  const log = createLog({ level: 'debug', redactor, write: (line) => logLines.push(line) });
  return createAlerts({ engine, clock, log, redactor, webhook: () => webhook, readConditions: async () => seen.now });
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

  it('report further items of a reason at most once an hour, and not that one of several was corrected', async () => {
    const seen: { now: Condition[] } = { now: [] };
    const alerts = alertsOf(seen);
    const sentAfter = async (minutes: number, newest: string) => {
      await clock.advance(minutes * 60_000);
      seen.now = newest === '' ? [] : [{ ...needs('rejected'), newest: `2026-03-02T07:${newest}:00.000Z` }];
      received = [];
      await runAndSend(alerts);
      return sentTexts();
    };
    const again = ['alert outbox rejected: rejected → rejected'];
    expect(await sentAfter(0, '10')).toEqual(['alert outbox rejected: ok → rejected']);
    expect(await sentAfter(59, '20')).toEqual([]);
    expect(await sentAfter(1, '20')).toEqual(again);
    expect(await sentAfter(60, '20')).toEqual([]);
    expect(await sentAfter(0, '10')).toEqual([]);
    expect(await sentAfter(0, '30')).toEqual(again);
    expect(await sentAfter(0, '')).toEqual(['recovery outbox rejected: rejected → ok']);
  });

  it('of a daemon report further rejected plans and unreadable files after an hour', async () => {
    const push = await makePushPlace();
    const jobs = await loadJobs();
    const loaded = parseConfig(`alerts: { webhook: "${address}" }`, 'roadbook.yaml', configDeclarations(jobs), {});
    const alerts = daemonAlerts({ ...push.dependencies, jobs, loaded }, push.engine);
    const offer = async (code: string) => {
      push.drop('route_plans', `${code}.json`, plan(code, { vehicle_plate: 'ZZZ0Z00' }));
      push.drop('route_plans', `${code}-broken.json`, '{"broken');
      await push.run('push-route-plans');
    };
    const sentAfter = async (minutes: number) => {
      await push.clock.advance(minutes * 60_000);
      received = [];
      await alerts.runOnce();
      return received
        .flatMap(({ subject, text }) => (subject.startsWith('outbox') ? [text.split(': ')[1]] : []))
        .sort();
    };
    const rejected = 'rejected, and neither corrected nor cancelled. Try';
    const unread = 'could not be read in the last day. Try';
    await offer('P1');
    expect(await sentAfter(0)).toEqual([`1 file or feed ${unread}`, `1 item ${rejected}`]);
    await push.clock.advance(30 * 60_000);
    await offer('P2');
    expect(await sentAfter(0)).toEqual([]);
    expect(await sentAfter(31)).toEqual([`2 files or feeds ${unread}`, `2 items ${rejected}`]);
    expect(await sentAfter(61)).toEqual([]);
  });

  it('of a daemon report a further entry that needs a person, plan past the deadline and invalid record', async () => {
    const push = await makePushPlace();
    const jobs = await loadJobs();
    const text = `alerts: { webhook: "${address}" }\njobs: { push-route-plans: { deadline: "18:00" } }`;
    const loaded = parseConfig(text, 'roadbook.yaml', configDeclarations(jobs), {});
    const alerts = daemonAlerts({ ...push.dependencies, jobs, loaded }, push.engine);
    const later = { date_time_start: '2025-03-14T08:00:00-03:00', date_time_end: '2025-03-14T18:00:00-03:00' };
    const sentAfter = async (minutes: number) => {
      await push.clock.advance(minutes * 60_000);
      received = [];
      await alerts.runOnce();
      const subjects = ['outbox code_reused', 'deadline', 'quarantine'];
      return received
        .flatMap(({ subject, event }) => (subjects.includes(subject) ? [`${event} ${subject}`] : []))
        .sort();
    };
    const oneOfEach = async (code: string) => {
      push.drop('route_plans', `${code}-a.json`, plan(code));
      await push.run('push-route-plans');
      push.drop('route_plans', `${code}-b.json`, plan(code, later));
      push.drop('route_plans', `${code}-c.json`, plan(`${code}-late`, { vehicle_plate: 'ZZZ0Z00' }));
      await push.run('push-route-plans');
      await readInvalid(code);
    };
    const readInvalid = async (key: string) => {
      const record = { table: event, key, reason: 'begin_date: expected an instant', record: { at: push.now() } };
      const rows = quarantineRows('pull-events', [record], push.dependencies.redactor);
      await push.engine.write((tx) => quarantine(tx, rows, metadataAt('r1', push.now())));
    };
    const all = ['alert deadline', 'alert outbox code_reused', 'alert quarantine'];
    await oneOfEach('P1');
    expect(await sentAfter(8 * 60)).toEqual(all);
    expect(await sentAfter(61)).toEqual([]);
    await oneOfEach('P2');
    expect(await sentAfter(1)).toEqual(all);
    // A new version of a record that was invalid before is no further record.
    await readInvalid('P1');
    expect(await sentAfter(61)).toEqual([]);
  });

  it('report no recovery of the state `partial`, which earlier versions reported', async () => {
    const report = { state: 'partial', claim: null };
    await engine.write((tx) => writeFact(tx, 'alert job pull-events', report, clock.now()));
    const seen: { now: Condition[] } = { now: [] };
    await runAndSend(alertsOf(seen));
    expect(sentTexts()).toEqual([]);
    seen.now = [job('failing')];
    await runAndSend(alertsOf(seen));
    expect(sentTexts()).toEqual(['alert job pull-events: ok → failing']);
  });

  it('are raised by what needs a person, and not by a pause or a job that has not run yet', () => {
    const reason = { health: 'warning', text: 'x', hint: null, place: '' } as const;
    const codes = ['job_paused', 'job_never_ran', 'push_unclear', 'job_failing', 'push_rejected', 'config_rejected'];
    const conditions = alertConditions(codes.map((code) => ({ ...reason, code, subject: code })));
    expect(conditions.map(({ state }) => state)).toEqual(['failing', 'rejected', 'rejected']);
  });

  it('report what is wrong when they are switched on again, also if the same was reported before', async () => {
    const seen = { now: [job('failing')] };
    const daemon = (n: number) =>
      heartbeatOn(engine, {
        clock,
        log: createLog({ level: 'silent', redactor }),
        process: processElsewhere(`host-${n}`),
      });
    const [own, other] = [daemon(1), daemon(2)];
    for (const each of [own, other]) {
      each.start();
      await each.runOnce();
    }
    const offAndOn = async () => {
      for (const address of ['', undefined]) await runAndSend(alertsOf(seen, address));
      return sentTexts().length;
    };
    await runAndSend(alertsOf(seen));
    // The other daemon may have them on.
    expect(await offAndOn()).toBe(1);
    await other.stop();
    expect(await offAndOn()).toBe(2);
    expect(sentTexts()).toEqual(Array(2).fill('alert job pull-events: ok → failing'));
    await own.stop();
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
      readConditions: async () => seen.now,
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
    expect(logLines.join('')).toContain('alert_rejected');
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
      readConditions: () => Promise.reject(new Error('looked')),
    });
    await alerts.runOnce();
    expect(received).toEqual([]);
  });
});
