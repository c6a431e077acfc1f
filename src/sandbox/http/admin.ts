// The endpoints under /_sandbox/ with which a test controls and inspects the sandbox. They need no bearer token, meet no
// faults and are not counted.
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { issueTexts, parseInWords } from '../../core/text/zod-words.ts';
import type { Faults } from '../faults/faults.ts';
import { faultSchema } from '../faults/faults.ts';
import type { LedgerRecorder } from '../ledger.ts';
import type { SandboxClock } from '../sandbox-clock.ts';
import type { Account } from './account.ts';
import { CALL_NAMES, type CallName } from './call-names.ts';
import { type Shapes, shapesSchema } from './shapes.ts';
import type { Tokens } from './tokens.ts';

export interface AdminDependencies {
  account: Account;
  addedRecords: Map<CallName, unknown[]>;
  clock: SandboxClock;
  faults: Faults;
  ledger: LedgerRecorder;
  shapes: Shapes;
  tokens: Tokens;
}

const recordsSchema = z.strictObject({ call: z.enum(CALL_NAMES), records: z.array(z.unknown()) });

/** `truth` answers under /truth. */
export function createAdmin(dependencies: AdminDependencies, truth: Hono): Hono {
  const app = new Hono();
  app.get('/ledger', (c) => c.json(dependencies.ledger.read()));
  app.route('/truth', truth);
  clockEndpoints(app, dependencies.clock);
  faultEndpoints(app, dependencies.faults);
  recordEndpoints(app, dependencies);
  app.post('/shapes', async (c) => {
    const change = await bodyOf(c, shapesSchema.partial());
    return change instanceof Response ? change : c.json(Object.assign(dependencies.shapes, change));
  });
  app.post('/credentials', async (c) => {
    const change = await bodyOf(c, z.strictObject({ password: z.string() }));
    if (change instanceof Response) return change;
    dependencies.account.changePassword(change.password);
    return c.json({});
  });
  app.post('/tokens/expire', async (c) => {
    const change = await bodyOf(c, z.strictObject({ refresh: z.boolean().optional() }));
    if (change instanceof Response) return change;
    dependencies.tokens.expireAll('access');
    if (change.refresh === true) dependencies.tokens.expireAll('refresh');
    return c.json({});
  });
  return app;
}

function clockEndpoints(app: Hono, clock: SandboxClock): void {
  const state = () => ({ mode: clock.mode, now: new Date(clock.now()).toISOString(), now_ms: clock.now() });
  app.get('/clock', (c) => c.json(state()));
  app.post('/clock', async (c) => {
    if (clock.advance === undefined) {
      return c.json({ message: `The clock is ${clock.mode}; only a stepped one can be advanced` }, 409);
    }
    const change = await bodyOf(c, z.strictObject({ advance_ms: z.number().min(0) }));
    if (change instanceof Response) return change;
    await clock.advance(change.advance_ms);
    return c.json(state());
  });
}

function faultEndpoints(app: Hono, faults: Faults): void {
  app.get('/faults', (c) => c.json(faults.list()));
  app.post('/faults', async (c) => {
    const given = await bodyOf(c, z.union([faultSchema, z.array(faultSchema)]));
    if (given instanceof Response) return given;
    for (const fault of [given].flat()) faults.add(fault);
    return c.json(faults.list());
  });
  app.delete('/faults', (c) => {
    faults.clear();
    return c.json([]);
  });
}

function recordEndpoints(app: Hono, { addedRecords }: AdminDependencies): void {
  app.post('/records', async (c) => {
    const given = await bodyOf(c, recordsSchema);
    if (given instanceof Response) return given;
    addedRecords.set(given.call, [...(addedRecords.get(given.call) ?? []), ...given.records]);
    return c.json({});
  });
  app.delete('/records', (c) => {
    addedRecords.clear();
    return c.json({});
  });
}

/** The parsed body, or a 422 response that says why it is invalid. An empty body counts as `{}`. */
async function bodyOf<T>(c: Context, schema: z.ZodType<T>): Promise<T | Response> {
  const text = await c.req.text();
  let value: unknown;
  try {
    value = text.trim() === '' ? {} : JSON.parse(text);
  } catch {
    return c.json({ message: 'The body is not JSON' }, 422);
  }
  const result = parseInWords(schema, value);
  if (result.success) return result.data;
  return c.json({ message: issueTexts(result.error.issues, schema, value, 'body').join('; ') }, 422);
}
