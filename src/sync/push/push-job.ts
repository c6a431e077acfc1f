// What a push job declares: which kind of thing, and which of the common options it has. The engine does the rest.
import { z } from 'zod';
import { durationOption } from '../../core/duration-option.ts';
import { pushAttempt } from '../../warehouse/tables/push-attempt.ts';
import { pushOutbox } from '../../warehouse/tables/push-outbox.ts';
import type { Job } from '../job.ts';
import { executePush } from './push.ts';
import { DEADLINE_PATTERN } from './push-deadline.ts';
import type { PushKind } from './push-kind.ts';
import { previewPush } from './push-preview.ts';

const common = {
  settle: durationOption(
    '2m',
    'How long a search must not find a thing before it is believed absent and sent again (default 2m).',
  ),
  keep_refused: durationOption(
    '7d',
    'How long the content of a refused thing is kept for `outbox retry` (default 7d).',
  ),
};

export const check_before_send = z
  .boolean()
  .default(true)
  .describe('Search the service before a first send too: one search for each period (default true).');

/** For kinds that no call can change. */
export const after_confirmation = z
  .enum(['flag', 'ignore'])
  .default('flag')
  .describe('What a change in the ERP does once the service has the thing: flag or ignore (default flag).');

export const deadline = z
  .string()
  .regex(DEADLINE_PATTERN)
  .meta({ title: 'time of day', examples: ['18:00'] })
  .optional()
  .describe(
    'Local time by which what starts tomorrow has to be confirmed; alerts when it is not (default none).',
  );

export interface PushDeclaration {
  meaning: string;
  /** Cron fields used where the configuration names none. */
  schedule: string;
  kind: PushKind;
  /** Options beside the common ones, each with a default. */
  options?: z.core.$ZodLooseShape;
  /** About how many calls a run takes on a usual day, for the call budget; none unless told: most runs send nothing. */
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
