// The modules that a start loads: packages of other commands, and those needed by the first call or the first request,
// are not among them. Each of these was once loaded by every start.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, parse, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { prepareMapping } from '../../../src/erp/rows/mapping.ts';
import { configFor, makeWorkplace, type Workplace } from '../../support/process/workplace.ts';

const READER = resolve(import.meta.dirname, '../../../src/erp/files/drop-file-process.ts');
const PRELOAD = resolve(import.meta.dirname, '../../support/process/report-loaded.ts');
const LATER = ['got', 'hono', '@hono/node-server', 'prom-client', 'csv-parse', 'read-excel-file', 'fetch'];
const OF_OTHERS = ['hyparquet-writer', 'csv-stringify', 'pg-boss', 'pg'];

const jobs = readdirSync(resolve(import.meta.dirname, '../../../jobs'));
const ALL_OFF = `jobs:\n${jobs.map((file) => `  ${parse(file).name}: { enabled: false }\n`).join('')}`;

let place: Workplace;
beforeEach(() => {
  place = makeWorkplace(configFor('http://127.0.0.1:9', 'status: { port: 0 }\n'));
});
afterEach(() => place.remove());

const env = () => ({ NODE_OPTIONS: `--import=${PRELOAD}`, LOADED_FILE: join(place.dir, 'loaded.txt') });
const loaded = (): string[] => readFileSync(join(place.dir, 'loaded.txt'), 'utf8').split('\n');

it.each(['--version', '--help'])('roadbook %s loads only the command-line parser', async (flag) => {
  expect(await place.run([flag], env())).toMatchObject({ code: 0 });
  expect(loaded()).toEqual(['commander']);
});

it('a command that reads the warehouse loads no HTTP client or server', async () => {
  expect(await place.run(['status'], env())).toMatchObject({ code: 0 });
  expect(loaded()).toContain('knex');
  expect(loaded().filter((name) => [...LATER, ...OF_OTHERS].includes(name))).toEqual([]);
});

it('the daemon works before the page and the client are loaded', async () => {
  place.remove();
  // Nothing is due, so no call is made.
  place = makeWorkplace(configFor('http://127.0.0.1:9', `status: { port: 0 }\n${ALL_OFF}`));
  const daemon = place.start(['start'], env());
  await daemon.printed(/is running/);
  daemon.kill('SIGTERM');
  expect(await daemon.ended).toMatchObject({ code: 0 });
  expect(loaded()).toContain('knex');
  expect(loaded().filter((name) => [...LATER, ...OF_OTHERS].includes(name))).toEqual([]);
});

it('the reader of a dropped file leaves its compiled code to the next one, although it is killed', async () => {
  const compiled = join(place.dir, 'compiled');
  const path = join(place.dir, 'a.json');
  writeFileSync(path, '[]');
  const reader = fork(READER, { env: { NODE_COMPILE_CACHE: compiled }, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  const mapping = prepareMapping('route_plans', {});
  const context = { kind: 'route_plans', zone: 'UTC', reuseCodes: false, mapping };
  reader.send({ file: { path, name: 'a.json', size: 2 }, context });
  expect(await once(reader, 'message')).toMatchObject([{ isLast: true }, undefined]);
  reader.kill('SIGKILL');
  await once(reader, 'exit');
  const stored = readdirSync(compiled, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(stored.length).toBeGreaterThan(20);
});
