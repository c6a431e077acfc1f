// Serves the calls and the admin endpoints over real HTTP. A path must match the API document exactly, trailing slash
// included; any other path is a 404.
import type { Server } from 'node:http';
import { serve } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import type { SandboxDependencies } from '../dependencies.ts';
import { Rejection } from './answer.ts';
import type { Call } from './call.ts';
import { type Env, serveCall } from './call-pipeline.ts';

export function createApp(calls: readonly Call[], dependencies: SandboxDependencies, admin: Hono): Hono<Env> {
  const app = new Hono<Env>();
  app.route('/_sandbox', admin);
  for (const call of calls) {
    app.on(call.method, call.path, async (c, next) => {
      const query = new URL(c.req.url).searchParams;
      if (call.when?.(query) === false) return await next();
      await serveCall(dependencies, call, c, query);
      return RESPONSE_ALREADY_SENT;
    });
  }
  app.onError((error, c) =>
    error instanceof Rejection
      ? c.json({ message: error.message }, error.status)
      : c.json({ message: `The sandbox itself failed: ${error.message}` }, 500),
  );
  app.notFound((c) => c.json({ message: 'No such path' }, 404));
  return app;
}

export function listen(app: Hono<Env>, hostname: string, port: number) {
  return new Promise<{ url: string; close(): Promise<void> }>((resolve, reject) => {
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
