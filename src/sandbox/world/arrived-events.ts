// The events of a vehicle that have arrived at the service.
import { dayOf } from './company-time.ts';
import type { TrackedEvent } from './events.ts';
import type { World } from './world.ts';

/** The arrived events that begin between `from` and `to`, both included, in order of their beginning. */
export function arrivedEvents(world: World, index: number, from: number, to: number): TrackedEvent[] {
  const now = world.now();
  const found: TrackedEvent[] = [];
  for (let day = dayOf(from) - 1; day <= Math.min(dayOf(to) + 1, dayOf(now)); day++) {
    for (const event of world.activity(index, day).events()) {
      if (event.visibleAt <= now && event.beginAt >= from && event.beginAt <= to) found.push(event);
    }
  }
  return found.sort((a, b) => a.beginAt - b.beginAt || a.id - b.id);
}
