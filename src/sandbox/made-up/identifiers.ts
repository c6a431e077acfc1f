// Identifiers. Generated records have even ids that can be decoded into vehicle, day and position of the day; records
// that a client wrote have odd ids. So the two never collide, and nothing has to be stored.

const FIRST_VEHICLE = 1_000_000;
const FIRST_DRIVER = 2_000_000;
const FIRST_USER = 3_000_000;
const FIRST_POINT_OF_INTEREST = 4_000_000;
const FIRST_DEVICE = 5_000_000;

/** Days are counted from 2018-01-01, so that ids stay short. */
const FIRST_DAY = 17_532;
const DAYS = 20_000;
const PER_DAY = 128;

const even = (first: number) => ({
  of: (index: number): number => first + 2 * index,
  indexOf: (id: number): number | undefined =>
    Number.isInteger(id) && id >= first && (id - first) % 2 === 0 ? (id - first) / 2 : undefined,
});

export const vehicleIds = even(FIRST_VEHICLE);
export const driverIds = even(FIRST_DRIVER);
export const userIds = even(FIRST_USER);
export const pointOfInterestIds = even(FIRST_POINT_OF_INTEREST);
export const deviceIds = even(FIRST_DEVICE);

/** The id of a record that a vehicle has at most once a day (a plan, a checklist, an itinerary). */
export const dayIds = {
  of: (index: number, day: number): number => 2 * (index * DAYS + (day - FIRST_DAY)),
  keyOf(id: number): { index: number; day: number } | undefined {
    if (!Number.isInteger(id) || id < 0 || id % 2 === 1) return undefined;
    return { index: Math.floor(id / 2 / DAYS), day: ((id / 2) % DAYS) + FIRST_DAY };
  },
};

/** The id of one of several records of a vehicle's day (an event, a point, an answer). */
export const partId = (index: number, day: number, part: number): number =>
  (dayIds.of(index, day) / 2) * 2 * PER_DAY + 2 * (part % PER_DAY);

/** The id of the nth record that a client wrote, counted from zero. */
export const writtenId = (ordinal: number): number => 2 * ordinal + 1;

/** The id of a part of a written record; the parts of one record have consecutive ids. */
export const writtenPartId = (ordinal: number, part: number): number => 2 * (ordinal * 100_000 + part) + 1;
