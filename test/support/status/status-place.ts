// The status server over a rig: real HTTP on a free port, the sandbox behind the jobs, a clock that the test
// moves. Actions on jobs are recorded for the test.
import { request } from 'node:http';
import { configDeclarations, loadJobs } from '../../../src/app/app.ts';
import { parseConfig } from '../../../src/config/load.ts';
import { createLog } from '../../../src/core/log.ts';
import { createLogTail } from '../../../src/core/log-tail.ts';
import { isoInstant } from '../../../src/core/time/clock.ts';
import type { StatusServerDependencies } from '../../../src/status/server/dependencies.ts';
import { type StatusServer, startStatusServer } from '../../../src/status/server/server.ts';
import type { QueueFacts } from '../../../src/sync/dispatch/dispatcher.ts';
import { createRunTotals } from '../../../src/sync/run-totals.ts';
import { makeRig, type Rig, type RigOptions } from '../pull/rig.ts';

export const TOKEN = 'open-sesame-7';
export const WITH_TOKEN = { authorization: `Bearer ${TOKEN}` };

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: JSON of any shape
  json: any;
}

export interface StatusPlace {
  rig: Rig;
  dependencies: StatusServerDependencies;
  server: StatusServer;
  url: string;
  /** Actions on jobs, as in `run pull-vehicles`. */
  actions: string[];
  /** With the token by default. */
  ask(method: string, path: string, options?: AskOptions): Promise<Answer>;
  close(): Promise<void>;
}

export interface AskOptions {
  token?: string | null;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface StatusPlaceOptions extends Partial<RigOptions> {
  /** YAML of the configuration. */
  config?: string;
  rejectedEdit?: string;
  /** Facts about the queue of the daemons; default none. */
  queue?: QueueFacts;
}

export async function makeStatusPlace(options: StatusPlaceOptions = {}): Promise<StatusPlace> {
  const logTail = createLogTail();
  const rig = await makeRig({ startAt: '2026-03-10T15:00:00.000Z', ...options });
  rig.dependencies.log = createLog({
    level: 'debug',
    redactor: rig.dependencies.redactor,
    write: (line) => rig.logLines.push(line),
    tail: logTail,
  });
  const jobs = await loadJobs();
  const yaml = options.config ?? `status: { port: 0, token: ${TOKEN} }`;
  const { config } = parseConfig(yaml, 'config/roadbook.yaml', configDeclarations(jobs), {});
  const loadedAt = isoInstant(rig.clock.now());
  const actions: string[] = [];
  const record = (action: string) => async (job: string) => {
    actions.push(`${action} ${job}`);
    return `${action}: as requested`;
  };
  const totals = createRunTotals();
  rig.dependencies.totals = totals;
  const dependencies: StatusServerDependencies = {
    ...rig.dependencies,
    totals,
    version: '1.2.3',
    jobs,
    logTail,
    jobActions: { run: record('run'), pause: record('pause'), resume: record('resume') },
    running: () => ({ file: 'config/roadbook.yaml', config, loadedAt }),
    rejectedEdit: async () => options.rejectedEdit ?? null,
    session: async () => rig.dependencies.fleet.session(),
    queueFacts: async () => options.queue ?? null,
  };
  const server = await startStatusServer(dependencies);
  const url = server.url() ?? '';
  return {
    rig,
    dependencies,
    server,
    url,
    actions,
    ask: (method, path, asked) => ask(method, url + path, asked),
    async close() {
      await server.close();
      await rig.close();
    },
  };
}

/** Node's own client, because fetch would not let a test say another Host. */
export function ask(method: string, url: string, options: AskOptions = {}): Promise<Answer> {
  const { token = TOKEN, body, headers = {} } = options;
  const text = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(text === undefined ? {} : { 'content-length': Buffer.byteLength(text) }),
        ...headers,
      },
    });
    outgoing.once('error', reject);
    outgoing.once('response', (incoming) => {
      let received = '';
      incoming.setEncoding('utf8').on('data', (chunk: string) => {
        received += chunk;
      });
      incoming.once('end', () => {
        const isJson = String(incoming.headers['content-type']).includes('json');
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          text: received,
          json: isJson ? JSON.parse(received) : undefined,
        });
      });
    });
    outgoing.end(text);
  });
}
