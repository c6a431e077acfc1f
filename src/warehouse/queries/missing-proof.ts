// Executed stops that lack evidence, newest day first.
import type { Engine } from '../engine.ts';

export interface MissingProof {
  day: string | null;
  agent_id: number | null;
  agent_name: string | null;
  vehicle_plate: string | null;
  stop_id: number;
  stop_code: string | null;
  plan_code: string | null;
  executed_at: string | null;
  by_office: boolean;
  lacks_picture: boolean;
  lacks_signature: boolean;
  lacks_checklist: boolean;
}

const COLUMNS = [
  'day',
  'agent_id',
  'agent_name',
  'vehicle_plate',
  'stop_id',
  'stop_code',
  'plan_code',
  'executed_at',
  'by_office',
  'lacks_picture',
  'lacks_signature',
  'lacks_checklist',
] as const satisfies readonly (keyof MissingProof)[];

export async function missingProof(engine: Pick<Engine, 'read'>, day?: string): Promise<MissingProof[]> {
  const rows: Record<string, unknown>[] = await engine.read((sql) => {
    const query = sql('bi_missing_proof').select(...COLUMNS);
    if (day !== undefined) query.where({ day });
    return query.orderBy([{ column: 'day', order: 'desc' }, 'agent_id', 'executed_at', 'stop_id']);
  });
  // Engines return booleans as 1 and 0.
  return rows.map((row) => ({
    ...row,
    by_office: Boolean(row.by_office),
    lacks_picture: Boolean(row.lacks_picture),
    lacks_signature: Boolean(row.lacks_signature),
    lacks_checklist: Boolean(row.lacks_checklist),
  })) as unknown as MissingProof[];
}
