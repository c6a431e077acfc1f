// Which vehicles exist when. The base fleet always exists; newcomers join in slots of four days, are cancelled some
// weeks later and leave the listing some days after that. Everything is derived from the seed; nothing is stored.

import { seededRandom } from '../made-up/seeded-random.ts';
import { DAY_MS, dayOf, FOUNDING_DAY, HOUR_MS, startOfDay } from './company-time.ts';

export interface VehicleLife {
  createdAt: number;
  cancelledAt: number;
  /** The listing does not show the vehicle from this instant on. */
  goneAt: number;
}

const SLOT_DAYS = 4;
const SHORTEST_LIFE_DAYS = 15;
const LONGEST_LIFE_DAYS = 45;
const LONGEST_CANCELLED_DAYS = 9;
const LONGEST_STAY_SLOTS = Math.ceil((LONGEST_LIFE_DAYS + LONGEST_CANCELLED_DAYS) / SLOT_DAYS) + 1;
const BLOCK_PERIOD_DAYS = 30;
const BLOCK_CHANCE = 0.15;

type Churn = ReturnType<typeof churnRules>;

export type FleetRoster = ReturnType<typeof createFleetRoster>;

export function createFleetRoster(seed: number, vehicles: number, churn: boolean) {
  const rules = churnRules(seed, vehicles, churn);
  /** Undefined if no vehicle ever had this index. */
  const life = (index: number): VehicleLife | undefined => lifeOf(rules, index);
  /** Vehicle indexes that were listed at some instant from `from` to `to`, in the order of their creation slots. */
  const listedBetween = (from: number, to: number): number[] => [
    ...Array(rules.base).keys(),
    ...newcomersBetween(rules, from, to),
  ];
  return {
    life,
    listedBetween,
    listed: (now: number): number[] => listedBetween(now, now),
    status(index: number, now: number): 'A' | 'B' | 'C' {
      const one = life(index);
      if (one === undefined || now >= one.cancelledAt) return 'C';
      return isBlocked(seed, index, dayOf(now)) ? 'B' : 'A';
    },
    /** True if the vehicle can work for all of `day`. */
    worksOn(index: number, day: number): boolean {
      const one = life(index);
      if (one === undefined || one.createdAt > startOfDay(day)) return false;
      return one.cancelledAt >= startOfDay(day + 1) && !isBlocked(seed, index, day);
    },
  };
}

/**
 * The base fleet, of the vehicles with lower indexes than `base`, is smaller by the average number of newcomers, so that about
 * `vehicles` are listed. `perSlot` is the most newcomers in one slot, and `joinChance` the chance of each.
 */
function churnRules(seed: number, vehicles: number, churn: boolean) {
  const perSlot = Math.max(1, Math.round(vehicles / 40));
  const joinChance = churn ? Math.min(0.5, vehicles / 24) : 0;
  const meanLifeSlots = (SHORTEST_LIFE_DAYS + LONGEST_LIFE_DAYS) / 2 / SLOT_DAYS;
  const base = Math.max(1, vehicles - Math.round(joinChance * perSlot * meanLifeSlots));
  return { seed, base, perSlot, joinChance };
}

function lifeOf({ seed, base, perSlot, joinChance }: Churn, index: number): VehicleLife | undefined {
  if (!Number.isInteger(index) || index < 0) return undefined;
  const random = seededRandom(seed, 'life', index);
  if (index < base) {
    const createdDay = FOUNDING_DAY - random.int(30, 700);
    return { createdAt: startOfDay(createdDay) + 10 * HOUR_MS, cancelledAt: Infinity, goneAt: Infinity };
  }
  if (!random.chance(joinChance)) return undefined;
  const slotDay = FOUNDING_DAY + Math.floor((index - base) / perSlot) * SLOT_DAYS;
  const createdAt = startOfDay(slotDay + random.int(0, SLOT_DAYS - 1)) + random.int(9, 16) * HOUR_MS;
  const cancelledAt = createdAt + random.int(SHORTEST_LIFE_DAYS, LONGEST_LIFE_DAYS) * DAY_MS + HOUR_MS;
  return { createdAt, cancelledAt, goneAt: cancelledAt + random.int(3, LONGEST_CANCELLED_DAYS) * DAY_MS };
}

function newcomersBetween(rules: Churn, from: number, to: number): number[] {
  const { base, perSlot, joinChance } = rules;
  const found: number[] = [];
  if (joinChance === 0) return found;
  const firstSlot = Math.max(0, slotOf(from) - LONGEST_STAY_SLOTS);
  for (let index = base + firstSlot * perSlot; index < base + (slotOf(to) + 1) * perSlot; index++) {
    const one = lifeOf(rules, index);
    if (one !== undefined && one.createdAt <= to && from < one.goneAt) found.push(index);
  }
  return found;
}

const slotOf = (at: number): number => Math.floor((dayOf(at) - FOUNDING_DAY) / SLOT_DAYS);

function isBlocked(seed: number, index: number, day: number): boolean {
  const period = Math.floor(day / BLOCK_PERIOD_DAYS);
  const random = seededRandom(seed, 'block', index, period);
  if (!random.chance(BLOCK_CHANCE)) return false;
  const first = period * BLOCK_PERIOD_DAYS + random.int(0, BLOCK_PERIOD_DAYS - 5);
  return day >= first && day < first + random.int(1, 4);
}
