// What a push job declares: which kind of item, and which options it has beside the common ones.
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
  /** Cron fields used where the configuration names none. */
  schedule: string;
  kind: PushKind;
  /** Options beside the common ones, each with a default. */
  options?: z.core.$ZodLooseShape;
  /** About what a run costs on a usual day; default: no call, since most runs send nothing. */
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
