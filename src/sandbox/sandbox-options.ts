// The options of a sandbox, with all defaults in one place.

import type { Fault } from './faults/faults.ts';
import { type Credentials, DEFAULT_CREDENTIALS } from './http/account.ts';
import { DEFAULT_SHAPES, type Shapes } from './http/shapes.ts';
import type { Renewal } from './http/tokens.ts';
import type { ClockOptions } from './sandbox-clock.ts';
import { HOUR_MS, MINUTE_MS } from './world/company-time.ts';

const DEFAULTS = {
  host: '127.0.0.1',
  /** 0: any free port. */
  port: 0,
  seed: 1,
  /** Approximate number of vehicles listed at any time. */
  vehicles: 12,
  /** False: no vehicle ever joins or leaves, and exactly `vehicles` are listed. */
  churn: true,
  accessTokenTtlMs: 15 * MINUTE_MS,
  refreshTokenTtlMs: 24 * HOUR_MS,
  /** How a client must present the token for a renewal. */
  renewal: 'any' as Renewal,
  /** True: a renewal also issues a new refresh token and revokes the old one. */
  rotateRefresh: false,
  /** Delay after acceptance until searches show an imported plan. */
  importVisibleAfterMs: 0,
  /** The same delay for created points of interest, agents and itineraries. */
  createdVisibleAfterMs: 0,
  faults: [] as readonly Fault[],
  credentials: DEFAULT_CREDENTIALS,
  shapes: DEFAULT_SHAPES,
};

export type SandboxSettings = typeof DEFAULTS & OptionalSettings;

interface OptionalSettings extends ClockOptions {
  /** JSONL file that keeps accepted writes and the accelerated clock's origin. Default: memory only. */
  stateFile?: string;
  /**
   * For benchmarks: replaces the simulated events by this many of each vehicle per UTC day, spread evenly over the day and the
   * 24 categories. With more than 99,999 the ids would not be unique. Default: off.
   */
  bulkEvents?: { perVehiclePerDay: number };
}

export interface SandboxOptions extends OptionalSettings, Partial<Omit<typeof DEFAULTS, 'credentials' | 'shapes'>> {
  credentials?: Partial<Credentials>;
  shapes?: Partial<Shapes>;
}

export function settingsFrom(options: SandboxOptions): SandboxSettings {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return {
    ...DEFAULTS,
    ...given,
    credentials: { ...DEFAULT_CREDENTIALS, ...options.credentials },
    shapes: { ...DEFAULT_SHAPES, ...options.shapes },
  };
}
