// The options of a sandbox, with all defaults in one place.

import type { Fault } from './faults/faults.ts';
import { type Credentials, DEFAULT_CREDENTIALS } from './http/account.ts';
import { DEFAULT_SHAPES, type Shapes } from './http/shapes.ts';
import type { Renewal } from './http/tokens.ts';
import type { ClockOptions } from './sandbox-clock.ts';
import { HOUR_MS, MINUTE_MS } from './world/company-time.ts';
import type { BulkEvents } from './world/world.ts';

export interface SandboxSettings {
  /** Default 127.0.0.1. */
  host: string;
  /** Default 0: any free port. */
  port: number;
  /** Default 1. */
  seed: number;
  /** Approximate number of vehicles listed at any time. Default 12. */
  vehicles: number;
  /** False: no vehicle ever joins or leaves, and exactly `vehicles` are listed. Default true. */
  churn: boolean;
  /** Default 15 minutes. */
  accessTokenTtlMs: number;
  /** Default 24 hours. */
  refreshTokenTtlMs: number;
  /** How a client must present the token for a renewal. Default any. */
  renewal: Renewal;
  /** True: a renewal also issues a new refresh token and revokes the old one. Default false. */
  rotateRefresh: boolean;
  /** Delay after acceptance until searches show an imported plan. Default 0. */
  importVisibleAfterMs: number;
  /** The same delay for created points of interest, agents and itineraries. Default 0. */
  createdVisibleAfterMs: number;
  /** Default: none. */
  faults: readonly Fault[];
  credentials: Credentials;
  shapes: Shapes;
  /** JSONL file that keeps accepted writes and the accelerated clock's origin. Default: memory only. */
  stateFile?: string;
  /** Replaces the simulated events by a fixed number per vehicle and day, for benchmarks. Default: off. */
  bulkEvents?: BulkEvents;
  time: ClockOptions;
}

export interface SandboxOptions
  extends ClockOptions,
    Partial<Omit<SandboxSettings, 'credentials' | 'shapes' | 'time'>> {
  credentials?: Partial<Credentials>;
  shapes?: Partial<Shapes>;
}

const MOST_BULK_EVENTS = 99_999;

const DEFAULTS = {
  host: '127.0.0.1',
  port: 0,
  seed: 1,
  vehicles: 12,
  churn: true,
  accessTokenTtlMs: 15 * MINUTE_MS,
  refreshTokenTtlMs: 24 * HOUR_MS,
  renewal: 'any',
  rotateRefresh: false,
  importVisibleAfterMs: 0,
  createdVisibleAfterMs: 0,
  faults: [],
} as const satisfies Partial<SandboxSettings>;

export function settingsFrom(options: SandboxOptions): SandboxSettings {
  if ((options.bulkEvents?.perVehiclePerDay ?? 0) > MOST_BULK_EVENTS) {
    throw new RangeError(`bulkEvents.perVehiclePerDay: at most ${MOST_BULK_EVENTS}, so that event ids stay unique`);
  }
  const { clock, speed, stepped, startAt, credentials, shapes, ...rest } = options;
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return {
    ...DEFAULTS,
    ...given,
    credentials: { ...DEFAULT_CREDENTIALS, ...credentials },
    shapes: { ...DEFAULT_SHAPES, ...shapes },
    time: { clock, speed, stepped, startAt },
  };
}
