// Many plans for a drop folder, and what the ledger says became of them.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ledger } from '../../src/sandbox/sandbox.ts';

const PER_FILE = 500;
const STOPS = 10;

export function dropMany(dir: string, plans: number): void {
  mkdirSync(join(dir, 'plans'));
  for (let from = 0; from < plans; from += PER_FILE) {
    const some = Array.from({ length: Math.min(PER_FILE, plans - from) }, (_, i) => planNumbered(from + i));
    writeFileSync(join(dir, 'plans', `${from}.json`), JSON.stringify(some));
  }
}

export function verdictOf(ledger: Ledger, plans: number): { twice: number; lost: number } {
  const counts = Array.from({ length: plans }, (_, n) => ledger.plans[codeOf(n)] ?? 0);
  return {
    twice: counts.filter((count) => count > 1).length,
    lost: counts.filter((count) => count === 0).length,
  };
}

const codeOf = (n: number): string => `M${String(n).padStart(5, '0')}`;

function planNumbered(n: number): object {
  const day = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  const stops = Array.from({ length: STOPS }, (_, i) => ({
    name: `Stop ${i}`,
    address: `Rua ${n}, ${i}`,
    external_code: `M${n}-${i}`,
  }));
  return {
    external_code: codeOf(n),
    date_time_start: `${day}T11:00:00Z`,
    date_time_end: `${day}T20:00:00Z`,
    route_points: stops,
    options: { optimize: false },
  };
}
