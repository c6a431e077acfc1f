// The task of a measured process, and its report.

export type Way = 'parse' | 'bare' | 'pull' | 'again' | 'changed' | 'script' | 'scriptAgain' | 'indexed';
export type BenchEngine = 'sqlite' | 'postgres';

export interface Credentials {
  username: string;
  parent_username: string;
  password: string;
  realm: string;
}

export interface Task {
  way: Way;
  engine: BenchEngine;
  /** `warehouse` of a configuration. */
  settings: Record<string, string>;
  /** Folder for all other files that it writes. */
  dir: string;
  url: string;
  credentials: Credentials;
  beginAt: string;
  endAt: string;
  /** Rows of a way that makes them itself. */
  rows: number;
}

export interface Measured {
  rows: number;
  seconds: number;
  /** Of all threads; on a shared machine it says more than the seconds on the clock. Without a server's. */
  cpuSeconds: number;
  peakMb: number;
  /** How long the event loop kept a timer waiting, the 99th of a hundred, ms: the delay that the status page would see. */
  loopDelayMs: number;
}

/** A chapter of docs/explanation/performance.md. */
export interface Section {
  title: string;
  body: string;
  bars?: readonly Bar[];
  /** What is worse than it must be; the run then fails. */
  faults?: readonly string[];
}

export interface Bar {
  label: string;
  value: number;
  /** Ours is drawn darker than its yardstick. */
  isOurs: boolean;
}
