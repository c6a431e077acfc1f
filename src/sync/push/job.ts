// Builds a push job from its declaration: the kind of item, and the options beside the common ones.
import { z } from 'zod';
import { pushAttempt } from '../../warehouse/outbox/attempts.ts';
import { pushOutbox } from '../../warehouse/outbox/entry.ts';
import type { Job } from '../job.ts';
import type { PushKind } from './kind.ts';
import { commonOptions } from './options.ts';
import { previewPush } from './preview.ts';
import { executePush } from './run.ts';

export interface PushDeclaration {
  meaning: string;
  /** Default schedule, as cron fields. */
  schedule: string;
  kind: PushKind;
  /** Options beside the common ones, each with a default. */
  options?: z.core.$ZodLooseShape;
  /** Estimated cost of a run on a usual day; default: no call, because most runs send nothing. */
  cost?: Job['cost'];
}

export function pushJob(declaration: PushDeclaration): Job {
  const { meaning, schedule, kind, options = {}, cost = () => ({ calls: 0 }) } = declaration;
  return {
    meaning,
    schedule,
    options: z.object({ ...commonOptions, ...options }),
    tables: [pushOutbox, pushAttempt],
    cost,
    execute: (context) => executePush(kind, context),
    preview: (context) => previewPush(kind, context),
  };
}
