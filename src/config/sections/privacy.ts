// `privacy`: the policy of each personal column, and the secret that keys the digests. The warehouse declares the personal
// columns and the policies that each allows.
import { z } from 'zod';
import type { Policy } from '../../core/privacy-policy.ts';
import { section, setting } from './section.ts';

export interface PersonalColumn {
  /** The policies that the column allows. */
  allowed: readonly Policy[];
  default: Policy;
}

export interface PrivacySettings {
  secret: string;
  /** Policy of every personal column, by `table.column`. */
  policies: Readonly<Record<string, Policy>>;
}

export function privacySection(columns: Readonly<Record<string, PersonalColumn>>) {
  const shape = Object.fromEntries(
    Object.entries(columns)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, { allowed, default: usual }]) => [
        name,
        setting(z.enum(allowed as [Policy, ...Policy[]]), usual, `Policy for ${name}`),
      ]),
  );
  const secret = setting(z.string(), '', 'Secret that keys the digests; if empty, the first start generates one');
  return section(z.strictObject({ secret, ...shape }))
    .transform((value): PrivacySettings => {
      const { secret, ...policies } = value as { secret: string } & Record<string, Policy>;
      return { secret, policies };
    })
    .describe('How personal columns are stored, by `table.column`.');
}
