// `privacy`: what happens to each personal column before it is stored, and the secret that keys the digests.
// Which columns are personal, and what each can bear, the warehouse declares.
import { z } from 'zod';
import type { Policy } from '../../core/privacy-policy.ts';
import { section } from './section.ts';

export interface PersonalColumn {
  /** What the column can hold. */
  allowed: readonly Policy[];
  default: Policy;
}

export interface PrivacySettings {
  secret: string;
  /** Policy by `table.column`, of every personal column. */
  policies: Readonly<Record<string, Policy>>;
}

export function privacySection(columns: Readonly<Record<string, PersonalColumn>>) {
  const shape = Object.fromEntries(
    Object.entries(columns)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, { allowed, default: usual }]) => [
        name,
        z
          .enum(allowed as [Policy, ...Policy[]])
          .default(usual)
          .describe(`What is stored of ${name} (default ${usual}).`),
      ]),
  );
  const secret = z
    .string()
    .default('')
    .describe('Secret of the digests; empty takes one made at the first start (default empty).');
  return section(z.strictObject({ secret, ...shape }))
    .transform((value): PrivacySettings => {
      const { secret, ...policies } = value as { secret: string } & Record<string, Policy>;
      return { secret, policies };
    })
    .describe('What happens to personal columns, by `table.column`.');
}
