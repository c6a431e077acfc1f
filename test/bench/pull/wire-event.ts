// A made-up event as the service sends it: of 500 vehicles, 200 a day of each, in the order in which calls return them: by day,
// vehicle and category.
const START = Date.parse('2026-01-01T00:00:00.000Z');
const DAY_S = 86_400;
const [VEHICLES, A_DAY, OF_A_CATEGORY] = [500, 200, 15];

export function wireEvent(n: number) {
  const inDay = n % A_DAY;
  const vehicle = Math.floor(n / A_DAY) % VEHICLES;
  const seconds = Math.floor(n / (A_DAY * VEHICLES)) * DAY_S + inDay * (DAY_S / A_DAY);
  const at = (ms: number): string => new Date(START + seconds * 1_000 + ms).toISOString();
  return {
    event_category: 1 + Math.floor(inDay / OF_A_CATEGORY),
    id: n,
    begin_date: at(0),
    end_date: at(90_000),
    distance: n % 40_000,
    vehicle: { id: 1 + vehicle, plate: `ABC${1_000 + vehicle}`, model: `Model ${vehicle % 30}` },
    driver: { id: 1 + (n % 300), name: `Driver Number ${n % 300}` },
    location_start: { address: `Rua das Flores, ${n % 1_000}, São Paulo` },
    location_end: { address: `Avenida Brasil, ${n % 777}, Rio de Janeiro` },
  };
}
