// Loaded into the real process by `node --import`: counts every I/O step where it really happens (a commit, an
// HTTP request and its answer, a statement for an ERP on MySQL, a change of a file), and kills the process with -9 at a given step. The
// product knows nothing of it. KILL_AT=0 kills nowhere; with KILL_STEP only steps of that name count, where a request's
// method may follow; STEPS_FILE gets the steps at the end. With FILL the process lives on, but there is no room any more:
// the system rejects every write to a file. FILL=limit takes the room from this process, another value is a folder
// whose disk is filled up. At its end such a process prints on stderr which steps it took without room.

import { execFileSync } from 'node:child_process';
import diagnostics from 'node:diagnostics_channel';
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import type { ClientRequest } from 'node:http';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';

const killAt = Number(process.env.KILL_AT ?? 0);
const killStep = process.env.KILL_STEP;
const stepsFile = process.env.STEPS_FILE;
const fill = process.env.FILL;
const steps: string[] = [];
let counted = 0;
let filledAt = 0;

function step(name: string, method = ''): void {
  const full = `${name} ${method}`.trimEnd();
  steps.push(full);
  if (killStep === undefined || killStep === name || killStep === full) counted++;
  if (counted !== killAt) return;
  if (fill === undefined) process.kill(process.pid, 'SIGKILL');
  // Counted past the step, so that the disk is filled only once.
  counted++;
  filledAt = steps.length;
  if (fill === 'limit') execFileSync('prlimit', ['--fsize=0', '--pid', String(process.pid)]);
  else if (fill !== undefined) fillUp(fill);
}

function fillUp(folder: string): void {
  const file = openSync(join(folder, 'filler'), 'w');
  try {
    for (let size = 1 << 20; size > 0; size >>= 1) {
      try {
        for (;;) writeSync(file, Buffer.alloc(size));
      } catch {
        // Tries a smaller chunk, down to the last byte.
      }
    }
  } finally {
    closeSync(file);
  }
}

const require = createRequire(import.meta.url);

type Method = (this: unknown, ...args: unknown[]) => unknown;

// Commits, before and after.
const { Database } = require('sqlite3') as { Database: { prototype: Record<string, Method> } };
const all = Database.prototype.all as Method;
Database.prototype.all = function counted(this: unknown, sql: unknown, ...rest: unknown[]) {
  if (sql !== 'commit') return all.call(this, sql, ...rest);
  step('commit begins');
  const done = rest.pop() as Method;
  const counted: Method = function (this: unknown, ...results) {
    step('commit done');
    return done.apply(this, results);
  };
  return all.call(this, sql, ...rest, counted);
};

const { Client } = require('pg') as { Client: { prototype: Record<string, Method> } };
const query = Client.prototype.query as Method;
Client.prototype.query = function counted(this: unknown, ...args: unknown[]) {
  const [config, ...rest] = args;
  const text = typeof config === 'string' ? config : (config as { text?: string }).text;
  if (!/^commit;?$/i.test(text ?? '')) return query.apply(this, args);
  step('commit begins');
  const done = rest.pop() as Method;
  const counted: Method = function (this: unknown, ...results) {
    step('commit done');
    return done.apply(this, results);
  };
  return query.call(this, config, ...rest, counted);
};

// Statements by which the ERP is notified, before and after; loaded only where they count.
if (killStep?.startsWith('statement')) {
  const { Connection } = require('mysql2') as { Connection: { prototype: Record<string, Method> } };
  const execute = Connection.prototype.execute as Method;
  Connection.prototype.execute = function counted(this: unknown, ...args: unknown[]) {
    step('statement begins');
    const done = args.pop() as Method;
    const counted: Method = function (this: unknown, ...results) {
      step('statement done');
      return done.apply(this, results);
    };
    return execute.call(this, ...args, counted);
  };
}

// Requests and their answers.
const REQUEST_STEPS = {
  'http.client.request.created': 'request made',
  'http.client.request.start': 'request written',
  'http.client.response.finish': 'answer arrived',
} as const;
for (const [channel, name] of Object.entries(REQUEST_STEPS))
  diagnostics.subscribe(channel, (message) => step(name, (message as { request: ClientRequest }).request.method));

// Changes of files: results, moves, pictures, the secret, exports.
function countCalls(place: Record<string, Method>, names: readonly string[]): void {
  for (const name of names) {
    const original = place[name] as Method;
    place[name] = async function counted(this: unknown, ...args: unknown[]) {
      step(`${name} begins`);
      const result = await original.apply(this, args);
      step(`${name} done`);
      return result;
    };
  }
}

const promised = require('node:fs/promises') as typeof import('node:fs/promises');
// All open files share one method that writes.
const opened = await promised.open(import.meta.filename);
countCalls(Object.getPrototypeOf(opened), ['writeFile', 'appendFile']);
await opened.close();
countCalls(promised as never, ['open', 'writeFile', 'link', 'rename', 'rm']);

const files = require('node:fs') as typeof import('node:fs');
const { createWriteStream } = files;
files.createWriteStream = (...args) => {
  step('stream begins');
  return createWriteStream(...args).once('close', () => step('stream done'));
};
syncBuiltinESMExports();

if (fill !== undefined)
  process.on('exit', () => {
    if (filledAt > 0) process.stderr.write(`\nno room for ${JSON.stringify(steps.slice(filledAt - 1))}\n`);
  });
if (stepsFile !== undefined) process.on('exit', () => writeFileSync(stepsFile, steps.join('\n')));
