// Builds a pull job from the declaration in its file in jobs/. The tables of the declaration determine which jobs must run
// before it and which rows it references. Nothing else imports the pull engine.
import type { z } from 'zod';
import { tables as allTables } from '../../warehouse/schema/catalog.ts';
import { recordColumns, type Table } from '../../warehouse/schema/table.ts';
import { statusChange } from '../../warehouse/tables/status-change.ts';
import type { Job } from '../job.ts';
import { type CoverageBy, coverageScopes } from './plan/scopes.ts';
import { executePull, plannedSlices, previewPull, workSlice } from './run.ts';
import type { Pull, PullDeclaration, Reference } from './types.ts';

export function pull<Options extends z.ZodObject, Work>(declaration: PullDeclaration<Options, Work>): Job {
  const { meaning, schedule, options, into, coverage, group, cost, slicesAtOnce } = declaration;
  const filled = into.map(([, table]) => table);
  const references = filled.flatMap(referencesOf);
  // The cast is safe: the engine only passes options and slices back to the declaration that made them.
  const engine: Pull = { ...(declaration as unknown as Pull), references };
  return {
    meaning,
    schedule,
    options,
    tables: [...filled, ...writtenBeside(filled)],
    needs: neededJobs(coverage, references),
    into,
    scopes: (given) => coverageScopes(coverage, group?.(given as z.output<Options>)),
    cost: cost && ((given, load) => cost(given as z.output<Options>, load)),
    slicesAtOnce,
    execute: (context) => executePull(engine, context),
    slices: (context) => plannedSlices(engine, context),
    workSlice: (slice, context) => workSlice(engine, slice, context),
    preview: (context) => previewPull(engine, context),
  };
}

const referencesOf = (table: Table): Reference[] =>
  recordColumns(table).flatMap(({ references }, position) =>
    references?.pulledBy ? [{ table, position, to: references, job: references.pulledBy }] : [],
  );

/** The tables to which a load of these tables writes revisions and status changes. */
function writtenBeside(filled: readonly Table[]): Table[] {
  const revisions = allTables.filter(({ name }) => filled.some((table) => table.revisions === name));
  return filled.some(({ history }) => history !== null) ? [...revisions, statusChange] : revisions;
}

/** A job that reads by vehicle or driver takes their ids and names from these tables. */
const DIMENSIONS: Readonly<Record<CoverageBy, readonly string[]>> = {
  account: [],
  vehicle: ['vehicle'],
  driver: ['vehicle', 'driver'],
};

const neededJobs = (coverage: CoverageBy, references: readonly Reference[]): string[] => [
  ...new Set(references.filter(({ to }) => DIMENSIONS[coverage].includes(to.name)).map(({ job }) => job)),
];
