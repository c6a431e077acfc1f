// Serves the calls and the admin endpoints over real HTTP. A path must match the API document exactly, trailing slash
// included; any other path is a 404.
import type { Server } from 'node:http';
import { type HttpBindings, serve } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import type { Call } from './call.ts';
import { type PipelineDependencies, type RawRequest, serveCall } from './call-pipeline.ts';

type Env = { Bindings: HttpBindings };

export interface HttpServer {
  readonly url: string;
  close(): Promise<void>;
}

export function createApp(calls: readonly Call[], dependencies: PipelineDependencies, admin: Hono): Hono<Env> {
  const app = new Hono<Env>();
  app.route('/_sandbox', admin);
  for (const call of calls) {
    app.on(call.method, call.path, async (c, next) => {
      const query = new URL(c.req.url).searchParams;
      if (call.when?.(query) === false) return await next();
      await serveCall(dependencies, call, rawRequest(c, query));
      return RESPONSE_ALREADY_SENT;
    });
  }
  app.onError((error, c) => c.json({ message: `The sandbox itself failed: ${error.message}` }, 500));
  app.notFound((c) => c.json({ message: 'No such path' }, 404));
  return app;
}

const rawRequest = (c: Context<Env>, query: URLSearchParams): RawRequest => ({
  query,
  params: c.req.param() as Record<string, string>,
  incoming: c.env.incoming,
  outgoing: c.env.outgoing,
  readText: () => c.req.text(),
});

export function listen(app: Hono<Env>, hostname: string, port: number): Promise<HttpServer> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, hostname, port, overrideGlobalObjects: false }, (info) => {
      const host = hostname.includes(':') ? `[${hostname}]` : hostname;
      resolve({ url: `http://${host}:${info.port}`, close: () => closeServer(server) });
    }) as Server;
    server.once('error', reject);
  });
}

/** Closes open connections too: a client that waits on a fault must not keep the process alive. */
async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
