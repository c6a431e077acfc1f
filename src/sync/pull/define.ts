// Makes a job of what a file in jobs/ declares. Nothing else imports the pull engine.
import type { z } from 'zod';
import type { Job } from '../job.ts';
import { executePull, previewPull, workSlice } from './pull.ts';
import type { AnyPull, PullDeclaration } from './types.ts';

export function pullJob<Options extends z.ZodObject, Work>(declaration: PullDeclaration<Options, Work>): Job {
  // Options and slices come back as what this declaration made them; between the two they are only carried.
  const carried = declaration as unknown as AnyPull;
  return {
    ...declaration,
    trackedScopes: carried.trackedScopes,
    vehicleScope: carried.vehicleScope,
    driverScope: carried.driverScope,
    tracks: (scope, options) => matches(scope, carried.trackedScopes?.(options) ?? '%'),
    usualCalls: carried.usualCalls,
    usualReadings: carried.usualReadings,
    execute: (context) => executePull(carried, context),
    workSlice: (slice, context) => workSlice(carried, slice, context),
    preview: (context) => previewPull(carried, context),
  };
}

/** As LIKE does it: `%` stands for any words. */
const matches = (scope: string, pattern: string): boolean =>
  new RegExp(`^${pattern.split('%').map(RegExp.escape).join('.*')}$`).test(scope);
