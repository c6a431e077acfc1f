// A sample of the fuzz: records through the real jobs into real warehouses, files of an ERP, edits of the
// configuration. The seed is fixed, so that a run can be repeated; `npm run prove -- --only fuzz` continues from there.
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { configDeclarations, loadJobs } from '../../src/app/app.ts';
import { baseTables } from '../../src/warehouse/schema/catalog.ts';
import { image } from '../../src/warehouse/tables/image.ts';
import { stopPostgres } from '../support/databases/postgres.ts';
import { editedConfigs, tryConfig } from '../support/fuzz/config-fuzz.ts';
import { fuzzedFiles, tryFile } from '../support/fuzz/erp-fuzz.ts';
import { FUZZ_KINDS, fuzzRecords, openFuzzPlace } from '../support/fuzz/record-fuzz.ts';

afterAll(stopPostgres);

describe('any record that the service sends', () => {
  it('may be of any table, pictures apart, which have no records', () => {
    const sent = FUZZ_KINDS.flatMap(({ tables }) => tables.map(({ name }) => name));
    const filled = baseTables.filter((table) => table !== image).map(({ name }) => name);
    expect(sent.toSorted()).toEqual(filled.toSorted());
  });

  it.each([
    ['sqlite', 600],
    ['postgres', 200],
  ] as const)('is in a row of %s that gives it back, or in quarantine', async (engine, records) => {
    const place = await openFuzzPlace(engine);
    try {
      const counts = await fuzzRecords(place, records, 1);
      expect(counts.loaded + counts.quarantined).toBe(counts.sent);
      expect(counts.loaded).toBeGreaterThan(records / 3);
    } finally {
      await place.close();
    }
  });
});

it('any file that an ERP drops gives plans or a clear read error, and ends in its place', async () => {
  const counts = { plans: 0, readErrors: 0 };
  const check = fc.asyncProperty(fuzzedFiles, async (file) => {
    const { plans, readErrors } = await tryFile(file);
    counts.plans += plans;
    counts.readErrors += readErrors;
  });
  await fc.assert(check, { numRuns: 40, seed: 1 });
  expect(Math.min(counts.plans, counts.readErrors)).toBeGreaterThan(0);
});

it('any edit of the configuration is accepted, or rejected with its place', async () => {
  const declarations = configDeclarations(await loadJobs());
  const seen = new Set<string>();
  fc.assert(
    fc.property(editedConfigs, (text) => void seen.add(tryConfig(text, declarations))),
    { numRuns: 100, seed: 1 },
  );
  expect([...seen].sort()).toEqual(['accepted', 'rejected']);
});
