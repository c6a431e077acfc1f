// Closing a terminal stops the commands started from it, as SIGTERM does.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { loadJobs } from '../../src/app/app.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { PRODUCT_FLAGS } from '../support/product-flags.ts';
import { configFor, MAIN, makeWorkplace, type Workplace } from '../support/workplace.ts';

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
