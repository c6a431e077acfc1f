// Which tables drift: more rows of their final days differ from the service than the configuration allows.
import type { Config } from '../../config/schema.ts';
import type { TableDrift } from '../../warehouse/control/verification.ts';

const VERIFY_JOB = 'verify-warehouse';

export function driftAboveLimit(verification: readonly TableDrift[], { jobs }: Pick<Config, 'jobs'>): TableDrift[] {
  const limit = jobs[VERIFY_JOB]?.options.drift_limit;
  return typeof limit === 'number' ? verification.filter(({ drift_ratio }) => drift_ratio > limit) : [];
}
