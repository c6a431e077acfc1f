// A made-up event as the service sends it: of 500 vehicles, 200 a day of each.
const START = Date.parse('2026-01-01T00:00:00.000Z');

export function wireEvent(n: number) {
  const at = (ms: number): string => new Date(START + n * 864 + ms).toISOString();
  return {
    event_category: 1 + (n % 14),
    id: n,
    begin_date: at(0),
    end_date: at(90_000),
    distance: n % 40_000,
    vehicle: { id: 1 + (n % 500), plate: `ABC${1_000 + (n % 500)}`, model: `Model ${n % 30}` },
    driver: { id: 1 + (n % 300), name: `Driver Number ${n % 300}` },
    location_start: { address: `Rua das Flores, ${n % 1_000}, São Paulo` },
    location_end: { address: `Avenida Brasil, ${n % 777}, Rio de Janeiro` },
  };
}
