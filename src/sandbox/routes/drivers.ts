// POST and GET /driver/. is_deliveryman 1 lists agents, 0 the other drivers. The API document requires no field of a new
// agent; the sandbox requires name and CPF, because an agent without them cannot be listed.
import { z } from 'zod';
import { call } from '../http/call.ts';
import { checked, integerText, list, one, orNull, readQuery, requiredText } from '../http/parameters.ts';
import { listAnswer, writtenAnswer } from '../http/shapes.ts';
import { allDrivers, type WrittenAgent, writtenAgentRecord } from '../world/drivers.ts';

const DEFAULT_INCLUDES = ['department', 'cost_center', 'work_shift'];
const TEXT_FILTERS = ['cpf', 'name', 'identifier', 'company_registry'] as const;

const AGENT = z.object({
  is_deliveryman: orNull(z.boolean()),
  data: z.object({
    name: requiredText,
    cpf: requiredText,
    rg: orNull(z.string()),
    company_registry: orNull(z.string()),
    email: orNull(z.string()),
    phone_number: orNull(z.string()),
    is_deliveryman: orNull(z.boolean()),
  }),
});

const LISTING = z.object({
  is_deliveryman: one(
    z
      .string()
      .toLowerCase()
      .pipe(z.enum(['0', '1', 'true', 'false'])),
  ),
  id: one(integerText.optional()),
  cnh_category_id: one(integerText.pipe(z.number().min(1).max(9)).optional()),
  cpf: one(z.string().optional()),
  name: one(z.string().optional()),
  identifier: one(z.string().optional()),
  company_registry: one(z.string().optional()),
  includes: list(z.string()).default(DEFAULT_INCLUDES),
});

export const driverCalls = [
  call('create-agent', 'POST', '/driver/', ({ world }, { body }) => {
    const { data, is_deliveryman: outer } = checked(AGENT, body);
    const record: WrittenAgent = { ...data, is_deliveryman: data.is_deliveryman ?? outer ?? true };
    const id = world.journal.nextId('agent');
    const at = world.now();
    world.journal.write({ at, kind: 'agent', id, created: true, name: record.cpf, record });
    return writtenAnswer(world.shapes, writtenAgentRecord(world, id, at, record, DEFAULT_INCLUDES));
  }),
  call('drivers', 'GET', '/driver/', ({ world }, { query }) => {
    const wanted = readQuery(LISTING, query);
    const wantsAgents = ['1', 'true'].includes(wanted.is_deliveryman);
    const { id, cnh_category_id: category } = wanted;
    const found = allDrivers(world, wanted.includes).filter(
      (driver) =>
        world.isListed('agent', driver.id) &&
        driver.is_deliveryman === wantsAgents &&
        (id === undefined || driver.id === id) &&
        (category === undefined || driver.cnh_category_id === category) &&
        TEXT_FILTERS.every((name) => wanted[name] === undefined || driver[name] === wanted[name]),
    );
    return listAnswer(world.shapes, found);
  }),
];
