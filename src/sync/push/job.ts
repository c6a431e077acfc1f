// What a push job declares: which kind of item, and which options it has beside the common ones.
import { z } from 'zod';
import { durationOption } from '../../core/duration-option.ts';
import { pushAttempt } from '../../warehouse/outbox/attempts.ts';
import { pushOutbox } from '../../warehouse/outbox/entry.ts';
import type { Job } from '../job.ts';
import { DEADLINE_PATTERN } from './deadline.ts';
import type { PushKind } from './kind.ts';
import { previewPush } from './preview.ts';
import { executePush } from './run.ts';

const common = {
  settle: durationOption(
    '2m',
    'How long a read-back must not show an item before it is believed absent and sent again; doubles with each unclear send, and is longer than service.timeout (default 2m).',
  ),
  reuse_codes: z
    .boolean()
    .default(false)
    .describe(
      'Whether the ERP uses a code again on another day: false rejects the second use, true takes code and local start day as identity (default false).',
    ),
  keep_refused: durationOption(
    '7d',
    'How long the content of a rejected item is kept for `outbox retry` (default 7d).',
  ),
  keep_confirmed: durationOption(
    '400d',
    'How long a finished entry and its history are kept after the ERP last offered it (default 400d).',
  ),
};

/** For kinds that no call can change. */
export const after_confirmation = z
  .enum(['flag', 'ignore'])
  .default('flag')
  .describe('What a change in the ERP does once the service has the item: flag or ignore (default flag).');

export const deadline = z
  .string()
  .regex(DEADLINE_PATTERN)
  .meta({ title: 'time of day', examples: ['18:00'] })
  .optional()
  .describe(
    'Local time by which everything that starts tomorrow has to be confirmed; alerts when it is not (default none).',
  );

export interface PushDeclaration {
  meaning: string;
  /** Cron fields used where the configuration names none. */
  schedule: string;
  kind: PushKind;
  /** Options beside the common ones, each with a default. */
  options?: z.core.$ZodLooseShape;
  /** About how many calls a run takes on a usual day, for the call budget; default 0: most runs send nothing. */
  usualCalls?: Job['usualCalls'];
}

export function pushJob(declaration: PushDeclaration): Job {
  const { meaning, schedule, kind, options = {}, usualCalls = () => 0 } = declaration;
  return {
    meaning,
    schedule,
    options: z.object({ ...common, ...options }),
    tables: [pushOutbox, pushAttempt],
    usualCalls,
    execute: (context) => executePush(kind, context),
    preview: (context) => previewPush(kind, context),
  };
}
