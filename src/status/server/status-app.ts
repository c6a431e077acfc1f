// The routes of the status server: probes and metrics for machines, the page for people, its data, and the actions.
// Everything is read from the warehouse, and no request waits for a load.
import type { RequestListener } from 'node:http';
import { Duplex } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import { getRequestListener } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { compress } from 'hono/compress';
import { streamSSE } from 'hono/streaming';
import { actions } from '../api/actions.ts';
import { config } from '../api/config.ts';
import { data } from '../api/data.ts';
import { days } from '../api/days.ts';
import { jobs } from '../api/jobs.ts';
import { overview } from '../api/overview.ts';
import { plans } from '../api/plans.ts';
import { runs } from '../api/runs.ts';
import { today } from '../api/today.ts';
import { createReadiness } from '../health/readiness.ts';
import type { StatusFacts } from '../health/status-document.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { createTokenAuth, rightHost, securityHeaders } from './access.ts';
import { ApiError, answerError } from './api-error.ts';
import type { StatusServerDependencies } from './dependencies.ts';
import { createLive, type Live, MOST_WATCHERS } from './live.ts';
import { pageFiles } from './page-files.ts';
import { singleFlight } from './single-flight.ts';

export interface StatusApp {
  answer: RequestListener;
  close(): void;
}

export interface StatusAppDependencies extends StatusServerDependencies {
  /** The host that the server listens on. */
  host: string;
  readFacts(): Promise<StatusFacts>;
}

export function createStatusApp(dependencies: StatusAppDependencies): StatusApp {
  const { host } = dependencies;
  const facts = singleFlight(dependencies.readFacts);
  const metrics = createMetrics(dependencies, facts);
  const readOverview = singleFlight(async () => overview(await facts(), dependencies));
  const live = createLive({ ...dependencies, read: readOverview });
  const files = pageFiles();
  const token = createTokenAuth(dependencies);
  const readiness = createReadiness(dependencies);

  const app = new Hono();
  const onError = answerError(dependencies);
  app.onError(onError);
  app.use(securityHeaders);
  app.use(compress());
  app.use(rightHost(host));
  app.get('/livez', (c) => c.text('alive\n'));
  app.get('/readyz', async (c) => {
    const found = await readiness();
    return c.json(found, found.ready ? 200 : 503);
  });
  app.get('/metrics', token.reading, async (c) =>
    c.body(await metrics.text(), 200, { 'content-type': metrics.contentType }),
  );
  app.get('*', async (c, next) => files(c) ?? (await next()));
  app.get('/api/*', token.reading);
  app.post('/api/*', token.acting);
  app.get('/api/status', async (c) => c.json((await facts()).document));
  app.get('/api/overview', async (c) => c.json(await readOverview()));
  app.get('/api/live', (c) => watch(c, live));
  app.post('/api/token', (c) => c.json({ subject: 'token', words: 'accepted' }));
  for (const view of [runs, plans, today, data, config]) app.route('/api', view(dependencies));
  for (const view of [jobs, days]) app.route('/api', view(dependencies, facts));
  app.route('/api', actions(dependencies, live.nudge));
  app.notFound((c) => onError(new ApiError(404, 'not_found', 'No such path', 'The page is at /.'), c));
  return {
    answer: getRequestListener(app.fetch, { hostname: host, overrideGlobalObjects: false }),
    close: live.close,
  };
}

function watch(c: Context, live: Live): Response {
  if (live.watchers() >= MOST_WATCHERS) {
    throw new ApiError(503, 'too_many_watchers', 'Too many open pages', 'Close some of them.');
  }
  const answer = streamSSE(c, async (stream) => {
    const gone = new AbortController();
    stream.onAbort(() => gone.abort());
    for await (const { event, data } of live.watch(gone.signal))
      await stream.writeSSE({ event, data: JSON.stringify(data) });
  });
  return compressedByEvent(c, answer);
}

/** The middleware would keep an event back until more data fills its buffer. The small window takes 50 KB for each watcher. */
function compressedByEvent(c: Context, answer: Response): Response {
  if (answer.body === null || !/\bgzip\b/.test(c.req.header('accept-encoding') ?? '')) return answer;
  const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH, windowBits: 13, memLevel: 5 });
  const body = answer.body.pipeThrough(Duplex.toWeb(gzip) as ReadableWritablePair<Uint8Array, Uint8Array>);
  const compressed = new Response(body, answer);
  compressed.headers.set('content-encoding', 'gzip');
  return compressed;
}
