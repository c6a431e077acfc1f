// Closing a terminal stops the commands started from it, as SIGTERM does. A pipe whose reader is gone stops nothing.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { loadJobs } from '../../../src/app/app.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { PRODUCT_FLAGS } from '../../support/process/product-flags.ts';
import { configFor, MAIN, makeWorkplace, type Workplace } from '../../support/process/workplace.ts';

let sandbox: Sandbox;
let place: Workplace;

beforeEach(async () => {
  sandbox = await startSandbox();
});
afterEach(async () => {
  place.remove();
  await sandbox.close();
});

describe('a hang-up', () => {
  it.each([
    ['run', ['run', 'pull-vehicles']],
    ['backfill', ['backfill', 'pull-events', '--from', '2026-01-01', '--to', '2026-01-02']],
  ])('stops %s gracefully, even when it is sent repeatedly', async (_name, args) => {
    place = makeWorkplace(configFor(sandbox.url));
    for (const call of ['vehicles', 'events'] as const) sandbox.addFault({ call, fault: 'hang' });
    const command = place.start(args);
    const hung = () => Object.keys(sandbox.ledger().faults_injected).length;
    await expect.poll(hung, { timeout: 20_000 }).toBe(1);
    command.kill('SIGHUP');
    command.kill('SIGHUP');
    expect(await command.ended).toMatchObject({ signal: null, code: 1 });
    expect(await place.query('select distinct status from sync_run')).toEqual([{ status: 'failed' }]);
  });

  it.skipIf(!existsSync('/usr/bin/script'))('of its terminal drains the daemon', async () => {
    const jobs = (await loadJobs()).map(({ name }) => `  ${name}: { enabled: false }`).join('\n');
    place = makeWorkplace(configFor(sandbox.url, `jobs:\n${jobs}\n`));
    const command = [process.execPath, ...PRODUCT_FLAGS, MAIN, 'start'].join(' ');
    const terminal = spawn('/usr/bin/script', ['-qec', command, '/dev/null'], {
      cwd: place.dir,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    onTestFinished(() => void terminal.kill('SIGKILL'));
    for await (const text of terminal.stdout.setEncoding('utf8')) if (text.includes('is running')) break;
    const daemons = () => place.query<{ pid: number }>('select pid from sync_daemon');
    await expect.poll(daemons, { timeout: 20_000 }).toHaveLength(1);
    const [daemon] = await daemons();
    // The other end is closed.
    terminal.kill('SIGKILL');
    const isRunning = () => existsSync(`/proc/${daemon?.pid}`);
    await expect.poll(isRunning, { timeout: 20_000 }).toBe(false);
    // A clean stop removes the daemon's row.
    expect(await daemons()).toEqual([]);
  });
});

describe('a reader that takes the first line only', () => {
  it.each([
    ['tables', ['tables', '--json']],
    ['a dry run', ['run', 'push-route-plans', '--dry-run']],
    ['erp check', ['erp', 'check', '--json']],
  ])('of %s gets it, and the command ends quietly', async (_name, args) => {
    place = makeWorkplace(
      configFor(sandbox.url, 'erp: { route_plans: { source: files, folder: drop, settle: 0s } }\n'),
    );
    mkdirSync(join(place.dir, 'drop'));
    // Without a place each is rejected with a reason: more output than a pipe holds.
    const plans = Array.from({ length: 2_000 }, (_, i) => ({
      external_code: `V${i}`,
      date_time_start: '2026-05-18T08:00',
      date_time_end: '2026-05-18T18:00',
      route_points: [{ name: 'Store' }],
    }));
    writeFileSync(join(place.dir, 'drop', 'a.json'), JSON.stringify(plans));
    const command = spawn(process.execPath, [...PRODUCT_FLAGS, MAIN, ...args], { cwd: place.dir });
    onTestFinished(() => void command.kill('SIGKILL'));
    let said = '';
    command.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const ended = once(command, 'exit');
    await once(command.stdout, 'readable');
    expect(command.stdout.read(2)).toHaveLength(2);
    command.stdout.destroy();
    const [code, signal] = await ended;
    expect([signal, said]).toEqual([null, expect.not.stringMatching(/EPIPE|Error|\n\s+at /)]);
    expect([0, 1, 5]).toContain(code);
  });
});
