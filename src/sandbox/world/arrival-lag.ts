// How long a fact takes from the road to the service: mostly seconds, often minutes, sometimes hours, and rarely one or
// two days, when a device had no signal.

import type { Random } from '../made-up/seeded-random.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from './company-time.ts';

export function arrivalLag(random: Random): number {
  const luck = random.next();
  if (luck < 0.85) return random.int(5, 120) * SECOND_MS;
  if (luck < 0.94) return random.int(2, 30) * MINUTE_MS;
  if (luck < 0.985) return random.int(60, 8 * 60) * MINUTE_MS;
  return random.int(24, 47) * HOUR_MS;
}
