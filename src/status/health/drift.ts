// Which tables drift: more rows of their final days differ from the service than the configuration allows.
import type { Config } from '../../config/schema.ts';
import type { TableDrift } from '../../warehouse/control/verification.ts';
import type { Health } from './health.ts';

const VERIFY_JOB = 'verify-warehouse';

export function driftAboveLimit(verification: readonly TableDrift[], { jobs }: Pick<Config, 'jobs'>): TableDrift[] {
  const limit = jobs[VERIFY_JOB]?.options.drift_limit;
  return typeof limit === 'number' ? verification.filter(({ drift_ratio }) => drift_ratio > limit) : [];
}

/** Drift counts as late until a verification finds less of it. */
export const driftHealth = (verification: readonly TableDrift[], config: Pick<Config, 'jobs'>): Health =>
  driftAboveLimit(verification, config).length > 0 ? 'late' : 'ok';
