// One PostgreSQL for all test files that need one, started before the first of them and stopped after the last.
import { SHARED, startPostgres, stopPostgres } from './postgres.ts';

export async function setup(): Promise<void> {
  process.env[SHARED] = (await startPostgres()).url;
}

export async function teardown(): Promise<void> {
  delete process.env[SHARED];
  await stopPostgres();
}
