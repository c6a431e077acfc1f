// Drivers and agents. Each generated vehicle has one driver, who is listed as long as the vehicle. Two of three drivers
// are agents (delivery persons). Agents that a client created follow after them.

import { cpfOf } from '../made-up/cpf.ts';
import { driverIds, userIds } from '../made-up/identifiers.ts';
import { personName } from '../made-up/names.ts';
import { seededRandom } from '../made-up/seeded-random.ts';
import { costCenterOf } from '../routes/vehicle-records.ts';
import { DAY_MS } from './company-time.ts';
import type { World } from './world.ts';

export interface WrittenAgent {
  name: string;
  cpf: string;
  rg: string | null;
  company_registry: string | null;
  email: string | null;
  phone_number: string | null;
  is_deliveryman: boolean;
}

type DriverRecord = Record<string, unknown> & { id: number; cpf: string; is_deliveryman: boolean };

const isAgent = (index: number): boolean => index % 3 !== 0;

function driverRecord(world: World, index: number, includes: readonly string[]): DriverRecord {
  const { seed } = world;
  const random = seededRandom(seed, 'driver record', index);
  const hiredAt = (world.roster.life(index)?.createdAt ?? 0) - random.int(1, 20) * DAY_MS;
  const name = personName(seed, 'driver', index);
  return {
    id: driverIds.of(index),
    name,
    cpf: cpfOf(seed, index),
    rg: String(random.int(10_000_000, 99_999_999)),
    company_registry: `R${String(index + 1).padStart(5, '0')}`,
    email: random.chance(0.5) ? `driver${index + 1}@example.com` : null,
    phone_number: random.chance(0.8) ? `+55 11 9${random.int(1_000, 9_999)}-${random.int(1_000, 9_999)}` : null,
    is_deliveryman: isAgent(index),
    identifier: random.chance(0.7) ? String(random.int(100_000, 999_999)) : null,
    user_id: userIds.of(index),
    ...licence(seed, index),
    date_created: world.instant(hiredAt),
    ...organisation(index, includes),
    ...EMPTY_FIELDS,
  };
}

export function writtenAgentRecord(
  world: World,
  id: number,
  at: number,
  agent: WrittenAgent,
  includes: readonly string[],
): DriverRecord {
  return {
    id,
    ...agent,
    identifier: null,
    user_id: null,
    cnh_category_id: null,
    cnh_category: null,
    cnh_number: null,
    cnh_date: null,
    first_cnh_date: null,
    toxicology_expiration: null,
    date_of_birth: null,
    date_created: world.instant(at),
    ...organisation(0, includes),
    ...EMPTY_FIELDS,
  };
}

export function allDrivers(world: World, includes: readonly string[]): DriverRecord[] {
  const generated = world.roster.listed(world.now()).map((index) => driverRecord(world, index, includes));
  const written = [...world.journal.latest<WrittenAgent>('agent').values()].map((entry) =>
    writtenAgentRecord(world, entry.id, entry.at, entry.record, includes),
  );
  return [...generated, ...written];
}

const EMPTY_FIELDS = {
  customer_id: 1,
  users: null,
  work_shift_id: null,
  point_of_interest_id: null,
  state_id: null,
  cnh_file: null,
  status: null,
  neighborhood: null,
  number: null,
  cep: null,
  revenues: null,
  revenues_type: null,
} as const;

function organisation(index: number, includes: readonly string[]): Record<string, unknown> {
  const center = costCenterOf(index);
  const related: Record<string, unknown> = {
    department: { external_code: 'D-01', name: 'Deliveries', id: 1 },
    cost_center: center,
    work_shift: null,
  };
  return {
    department_id: 1,
    cost_center_id: center.id,
    ...Object.fromEntries(Object.entries(related).filter(([name]) => includes.includes(name))),
  };
}

function licence(seed: number, index: number): Record<string, unknown> {
  const random = seededRandom(seed, 'licence', index);
  const month = (): string => String(random.int(1, 12)).padStart(2, '0');
  const day = (): string => String(random.int(1, 28)).padStart(2, '0');
  return {
    cnh_category_id: random.int(1, 9),
    cnh_category: null,
    cnh_number: String(random.int(10_000_000_000, 99_999_999_999)),
    cnh_date: `${random.int(2026, 2031)}-${month()}-${day()}`,
    first_cnh_date: random.chance(0.6) ? `${random.int(1995, 2015)}-${month()}-${day()}` : null,
    toxicology_expiration: random.chance(0.4) ? `${random.int(2026, 2028)}-${month()}-${day()}` : null,
    date_of_birth: `${random.int(1962, 2001)}-${month()}-${day()}`,
  };
}
