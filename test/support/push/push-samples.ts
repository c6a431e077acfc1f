// Items to push, as an ERP would give them, and how the outbox shows them.
import type { OutboxEntry } from '../../../src/warehouse/outbox/entry.ts';

export type OutboxRow = OutboxEntry;

/** A plan of the day after the tests' noon. */
export const plan = (code: string, change: Record<string, unknown> = {}): Record<string, unknown> => ({
  external_code: code,
  date_time_start: '2025-03-13T08:00:00-03:00',
  date_time_end: '2025-03-13T18:00:00-03:00',
  route_points: [
    {
      name: 'Depot',
      type: 'Partida',
      latitude: -23.5,
      longitude: -46.6,
      order: 1,
      external_code: `${code}-0`,
    },
    { name: 'Customer', type: 'Entrega', address: 'Rua Um, 1', order: 2, external_code: `${code}-1` },
  ],
  options: { optimize: false, geocoding: false },
  ...change,
});

/** Plans of that day, in the order of their codes: P00, P01 and so on. */
export const plans = (count: number): Record<string, unknown>[] =>
  Array.from({ length: count }, (_, i) => plan(`P${String(i).padStart(2, '0')}`));

export const pointOfInterest = (title: string, change: Record<string, unknown> = {}) => ({
  title,
  latitude: -23.5,
  longitude: -46.6,
  point_of_interest_category_id: 2,
  ...change,
});

/** Real check digits, nobody's number. */
export const CPFS = ['52998224725', '11144477735', '12345678909', '98765432100'] as const;

export const agent = (cpf: string, change: Record<string, unknown> = {}) => ({
  external_code: `A-${cpf.slice(0, 3)}`,
  name: 'A. Person',
  cpf,
  is_deliveryman: true,
  ...change,
});

export const itinerary = (code: string, change: Record<string, unknown> = {}) => ({
  external_id: code,
  description: 'Week',
  vehicle_id: 1,
  driver_id: 1,
  date_time_start_estimated: '2025-03-13T08:00:00-03:00',
  date_time_end_estimated: '2025-03-14T18:00:00-03:00',
  ...change,
});
