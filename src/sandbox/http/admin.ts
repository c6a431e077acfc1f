// The endpoints under /_sandbox/ with which a test controls and inspects the sandbox. They need no bearer token, meet no
// faults and are not counted.
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import type { SandboxDependencies } from '../dependencies.ts';
import { type Faults, faultSchema } from '../faults/faults.ts';
import type { SandboxClock } from '../sandbox-clock.ts';
import { CALL_NAMES } from './call-names.ts';
import { checked, parsedBody } from './parameters.ts';
import { shapesSchema } from './shapes.ts';

/** `truth` answers under /truth. */
export function createAdmin(dependencies: SandboxDependencies, truth: Hono): Hono {
  const { account, addedRecords, clock, faults, ledger, tokens, world } = dependencies;
  const app = new Hono();
  app.get('/ledger', (c) => c.json(ledger.read()));
  app.route('/truth', truth);
  clockEndpoints(app, clock);
  faultEndpoints(app, faults);
  app.post('/records', async (c) => {
    const { call, records } = await bodyOf(c, recordsSchema);
    addedRecords.set(call, [...(addedRecords.get(call) ?? []), ...records]);
    return c.json({});
  });
  app.delete('/records', (c) => {
    addedRecords.clear();
    return c.json({});
  });
  app.post('/shapes', async (c) => c.json(Object.assign(world.shapes, await bodyOf(c, shapesSchema.partial()))));
  app.post('/credentials', async (c) => {
    const { password } = await bodyOf(c, z.strictObject({ password: z.string() }));
    account.changePassword(password);
    return c.json({});
  });
  app.post('/tokens/expire', async (c) => {
    const { refresh } = await bodyOf(c, z.strictObject({ refresh: z.boolean().optional() }));
    tokens.expireAll('access');
    if (refresh === true) tokens.expireAll('refresh');
    return c.json({});
  });
  return app;
}

const recordsSchema = z.strictObject({ call: z.enum(CALL_NAMES), records: z.array(z.unknown()) });

function clockEndpoints(app: Hono, clock: SandboxClock): void {
  const state = () => ({ mode: clock.mode, now: new Date(clock.now()).toISOString(), now_ms: clock.now() });
  app.get('/clock', (c) => c.json(state()));
  app.post('/clock', async (c) => {
    if (clock.advance === undefined) {
      return c.json({ message: `The clock is ${clock.mode}; only a stepped one can be advanced` }, 409);
    }
    const { advance_ms } = await bodyOf(c, z.strictObject({ advance_ms: z.number().min(0) }));
    await clock.advance(advance_ms);
    return c.json(state());
  });
}

function faultEndpoints(app: Hono, faults: Faults): void {
  app.get('/faults', (c) => c.json(faults.list()));
  app.post('/faults', async (c) => {
    const given = await bodyOf(c, z.union([faultSchema, z.array(faultSchema)]));
    for (const fault of [given].flat()) faults.add(fault);
    return c.json(faults.list());
  });
  app.delete('/faults', (c) => {
    faults.clear();
    return c.json([]);
  });
}

/** An empty body counts as `{}`. */
const bodyOf = async <T extends z.ZodType>(c: Context, schema: T): Promise<z.output<T>> =>
  checked(schema, parsedBody(await c.req.text(), 422) ?? {});
