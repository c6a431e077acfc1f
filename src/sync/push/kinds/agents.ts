// Pushes agents. An agent is matched by its tax number, which is stored and compared only as a digest. Agents are created,
// never changed, because the service has no call for that.
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../../core/json.ts';
import { createAgent } from '../../../fleet/endpoints/create-agent.ts';
import { drivers } from '../../../fleet/endpoints/drivers.ts';
import type { Digest } from '../../../warehouse/privacy/personal-digest.ts';
import type { PushKind } from '../kind.ts';
import { fieldText, judgeWritten, remoteRecords } from './answers.ts';

/** The keyed digest is computed from the plain digest, because older warehouses store plain digests. */
function keyOf({ cpf }: JsonObject, digest: Digest): string {
  const digits = (fieldText(cpf) ?? '').replace(/\D/g, '').padStart(11, '0');
  return digest(createHash('sha256').update(`cpf ${digits}`).digest('hex'));
}

export const agentKind: PushKind = {
  feed: 'agents',
  noun: 'agent',
  keyOf,
  hasUniqueKey: true,
  listOf: ({ is_deliveryman }) => (is_deliveryman === false ? 'drivers' : 'agents'),
  async list(call, _period, digest) {
    // The service lists a person either as an agent or as a driver. Read both, so that nobody is created twice.
    const agents = await call(drivers, { is_deliveryman: true });
    const others = await call(drivers, { is_deliveryman: false });
    const isAgent = new Set(remoteRecords(agents, () => '').map(({ id }) => id));
    const found = remoteRecords([...agents, ...others], (record) => keyOf(record, digest));
    return found.map((each) => ({ ...each, list: isAgent.has(each.id) ? 'agents' : 'drivers' }));
  },
  create: async (call, { data }) => judgeWritten(await call(createAgent, { data })),
  isSame: (record, { name }) => name === undefined || record.name === undefined || record.name === name,
};
