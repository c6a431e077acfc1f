// What a measured process is told to do, and what it tells afterwards.

/** What the product is compared with runs as node runs by itself. */
export { PRODUCT_FLAGS } from '../support/product-flags.ts';

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
  /** Folder for whatever else it writes. */
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
  /** Of all threads; where the machine is shared, it tells more than the seconds on the clock. Without a server's. */
  cpuSeconds: number;
  peakMb: number;
  /** How long the event loop kept a timer waiting, the 99th of a hundred, ms: what the status page would feel. */
  loopDelayMs: number;
}

/** A chapter of docs/explanation/performance.md. */
export interface Section {
  title: string;
  body: string;
  bars?: readonly Bar[];
}

export interface Bar {
  label: string;
  value: number;
  /** Ours is drawn darker than what it is compared with. */
  isOurs: boolean;
}
