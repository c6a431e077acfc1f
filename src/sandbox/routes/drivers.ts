// POST and GET /driver/. is_deliveryman 1 lists agents, 0 the other drivers. The API document requires no field of a new
// agent; the sandbox requires name and CPF, because an agent without them cannot be listed.
import { isJsonObject } from '../../core/glossary.ts';
import { Rejection } from '../http/answer.ts';
import { type Call, type CallRequest, dataOf, readCall, writeCall } from '../http/call.ts';
import { collection, optionalInteger, optionalWord, type Query, requireParameter } from '../http/parameters.ts';
import { listAnswer, writtenAnswer } from '../http/shapes.ts';
import { booleanField, requiredText, textField } from '../http/written-fields.ts';
import { allDrivers, type DriverRecord, type WrittenAgent, writtenAgentRecord } from '../world/drivers.ts';
import type { World } from '../world/world.ts';

const DEFAULT_INCLUDES = ['department', 'cost_center', 'work_shift'] as const;

export const driverCalls = (world: World): Call[] => [
  writeCall('create-agent', 'POST', '/driver/', ({ body }) => createAgent(world, body)),
  readCall('drivers', '/driver/', (request) => listDrivers(world, request)),
];

function createAgent(world: World, body: unknown) {
  const data = dataOf(body);
  const outer = isJsonObject(body) ? booleanField(body, 'is_deliveryman') : null;
  const agent: WrittenAgent = {
    name: requiredText(data, 'name'),
    cpf: requiredText(data, 'cpf'),
    rg: textField(data, 'rg'),
    company_registry: textField(data, 'company_registry'),
    email: textField(data, 'email'),
    phone_number: textField(data, 'phone_number'),
    is_deliveryman: booleanField(data, 'is_deliveryman') ?? outer ?? true,
  };
  const id = world.journal.nextId('agent');
  const at = world.now();
  world.journal.write({ at, kind: 'agent', id, created: true, name: agent.cpf, record: agent });
  return writtenAnswer(world.shapes, writtenAgentRecord(world, id, at, agent, DEFAULT_INCLUDES));
}

function listDrivers(world: World, { query }: CallRequest) {
  const includes = collection(query, 'includes') ?? DEFAULT_INCLUDES;
  const isWanted = driverFilter(query);
  const listed = allDrivers(world, includes).filter(({ id }) => world.isListed('agent', id));
  return listAnswer(world.shapes, listed.filter(isWanted));
}

function driverFilter(query: Query): (driver: DriverRecord) => boolean {
  const word = requireParameter(query, 'is_deliveryman').toLowerCase();
  if (!['0', '1', 'true', 'false'].includes(word)) throw new Rejection(422, 'is_deliveryman: must be a Boolean');
  const wantsAgents = word === '1' || word === 'true';
  const id = optionalInteger(query, 'id');
  const categories = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];
  const category = optionalWord(query, 'cnh_category_id', categories);
  const texts = ['cpf', 'name', 'identifier', 'company_registry']
    .map((name) => [name, query.get(name)] as const)
    .filter(([, wanted]) => wanted);
  return (driver) =>
    driver.is_deliveryman === wantsAgents &&
    (id === undefined || driver.id === id) &&
    (category === undefined || driver.cnh_category_id === Number(category)) &&
    texts.every(([name, wanted]) => driver[name] === wanted);
}
