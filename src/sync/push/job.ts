// Builds a push job from its declaration: the kind of item, and the options beside the common ones.
import { z } from 'zod';
import { pushAttempt } from '../../warehouse/outbox/attempts.ts';
import { pushContent } from '../../warehouse/outbox/content.ts';
import { pushOutbox } from '../../warehouse/outbox/entry.ts';
import type { Job } from '../job.ts';
import type { PushKind } from './kind.ts';
import { commonOptions } from './options.ts';
import { previewPush } from './preview.ts';
import { executePush } from './run.ts';

interface PushDeclaration extends Pick<Job, 'meaning' | 'schedule' | 'cost'> {
  kind: PushKind;
  /** Options beside the common ones, each with a default. */
  options?: z.core.$ZodLooseShape;
}

export function pushJob({ kind, options = {}, ...declaration }: PushDeclaration): Job {
  return {
    // Most runs send nothing.
    cost: () => ({ calls: 0 }),
    ...declaration,
    options: z.object({ ...commonOptions, ...options }),
    tables: [pushOutbox, pushAttempt, pushContent],
    execute: (context) => executePush(kind, context),
    preview: (context) => previewPush(kind, context),
  };
}
