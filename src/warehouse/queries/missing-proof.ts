// Executed stops that lack evidence, newest day first, and their sums by agent and day.
import type { Engine } from '../engine.ts';

const FLAGS = ['by_office', 'lacks_picture', 'lacks_signature', 'lacks_checklist'] as const;

export interface MissingProof extends Record<(typeof FLAGS)[number], boolean> {
  day: string | null;
  agent_id: number | null;
  agent_name: string | null;
  vehicle_plate: string | null;
  stop_id: number;
  stop_code: string | null;
  plan_code: string | null;
  executed_at: string | null;
}

const COLUMNS = [
  ...['day', 'agent_id', 'agent_name', 'vehicle_plate', 'stop_id', 'stop_code', 'plan_code', 'executed_at'],
  ...FLAGS,
];

/** `day` is the local day on which the stops were executed, `planDay` that on which their plans start. */
export async function missingProof(
  engine: Pick<Engine, 'read'>,
  { day, planDay }: { day?: string; planDay?: string } = {},
): Promise<MissingProof[]> {
  const rows: MissingProof[] = await engine.read((sql) => {
    const query = sql('bi_missing_proof').select(...COLUMNS);
    if (day !== undefined) query.where({ day });
    if (planDay !== undefined) query.whereIn('plan_id', sql('route_plan').where({ _day: planDay }).select('id'));
    // Engines differ in where they sort nulls.
    return query.orderByRaw('day desc nulls last, agent_id nulls last, executed_at nulls last, stop_id');
  });
  // Engines return booleans as 1 and 0.
  for (const row of rows) for (const flag of FLAGS) row[flag] = Boolean(row[flag]);
  return rows;
}

/** A table that the report is made of, and until when it was read, in all or of a day; null if it was not yet. */
export interface ProofReading {
  table: 'route_plan' | 'checklist';
  read_until: string | null;
  /** False for a day of more than a year ago: nobody knows how much of it was read. */
  is_known: boolean;
}

/** What the report is based on: without plans it names no stop, without checklists every one. */
export async function proofReadings(
  engine: Pick<Engine, 'read'>,
  { day, today }: { day?: string; today: string },
): Promise<{ read: ProofReading[]; unused_forms: string[] }> {
  const forms: { form_name: string; is_used: unknown }[] = await engine.read((sql) =>
    sql('proof_rule as rule')
      .where({ evidence: 'checklist' })
      .orderBy('form_name')
      .select(
        'form_name',
        sql.raw(
          'case when exists (select 1 from checklist where checklist_form_name = rule.form_name) then 1 else 0 end as is_used',
        ),
      ),
  );
  const rows: { table_name: string; read_until: string | null }[] = await engine.read((sql) =>
    day === undefined
      ? sql('bi_freshness').select('table_name', 'covered_until as read_until')
      : sql('bi_day_status').where({ day }).select('table_name', 'read_until'),
  );
  const read = (['route_plan', 'checklist'] as const)
    .filter((table) => table === 'route_plan' || forms.length > 0)
    .map((table) => ({ table, row: rows.find(({ table_name }) => table_name === table) }))
    // bi_day_status has no day to come, and none of more than a year ago.
    .map(({ table, row }) => ({
      table,
      read_until: row?.read_until ?? null,
      is_known: row !== undefined || (day ?? today) >= today,
    }));
  const areChecklistsRead = read.every(({ table, read_until }) => table !== 'checklist' || read_until !== null);
  const unused = forms.filter(({ is_used }) => Number(is_used) === 0).map(({ form_name }) => form_name);
  return { read, unused_forms: areChecklistsRead ? unused : [] };
}

const MOST_NAMED = 5;

/** One row for each agent and day, in the order of the stops. */
export function proofByAgent(stops: readonly MissingProof[]) {
  const groups = Map.groupBy(stops, ({ day, agent_id }) => `${day} ${agent_id}`).values();
  return [...groups].map((own) => {
    const count = (field: (typeof FLAGS)[number]) => own.filter((stop) => stop[field]).length;
    const { day = null, agent_id = null, agent_name = null } = own[0] ?? {};
    return {
      day,
      /** Name of the agent, or the identifier where there is no name; null if neither is known. */
      agent: agent_name ?? agent_id,
      stops: own.length,
      /** Those of them whose outcome the office recorded: no driver was there to take a picture. */
      by_office: count('by_office'),
      lacks_picture: count('lacks_picture'),
      lacks_signature: count('lacks_signature'),
      lacks_checklist: count('lacks_checklist'),
      /** Codes of the first stops, or identifiers where there is no code. */
      which: own.slice(0, MOST_NAMED).map(({ stop_code, stop_id }) => stop_code ?? stop_id),
    };
  });
}
