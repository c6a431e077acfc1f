// `proof`: which evidence an executed stop must have. The service does not return it: it only returns where a picture is
// waived.
import { z } from 'zod';
import { section } from './section.ts';

export const proofSection = section(
  z.strictObject({
    picture: z
      .boolean()
      .default(true)
      .describe('Whether a stop needs a picture, unless its plan waives it with disable_picture (default true).'),
    signature: z.boolean().default(false).describe('Whether a stop needs a signature (default false).'),
    checklists: z
      .array(z.string().min(1))
      .default([])
      .describe(
        'Names of checklist forms: on a day with executed stops the agent has to fill in each of them (default empty).',
      ),
  }),
).describe('Which evidence an executed stop must have, for bi_missing_proof.');
