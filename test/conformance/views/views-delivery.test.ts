// bi_delivery and bi_route_plan on hand-made plans: every expected value is written out, none computed.
import { describe, expect, it } from 'vitest';
import { fillProofRules, fillStopRules, fillTableJobs } from '../../../src/warehouse/control/config-tables.ts';
import { dayEvents, planPoints } from '../../../src/warehouse/queries/delivery-day.ts';
import { missingProof, proofByAgent, proofReadings } from '../../../src/warehouse/queries/missing-proof.ts';
import { checklist } from '../../../src/warehouse/tables/checklist.ts';
import { event } from '../../../src/warehouse/tables/event.ts';
import { routePlan } from '../../../src/warehouse/tables/route-plan.ts';
import { routePoint } from '../../../src/warehouse/tables/route-point.ts';
import { routePointExecution } from '../../../src/warehouse/tables/route-point-execution.ts';
import { routePointItem } from '../../../src/warehouse/tables/route-point-item.ts';
import { vehicle } from '../../../src/warehouse/tables/vehicle.ts';
import { engineCases } from '../../support/warehouse/engines.ts';
import { metadataAt } from '../../support/warehouse/load-metadata.ts';
import { LOADED_AT, openViews, useViews, type ViewPlace } from '../../support/warehouse/view-place.ts';

useViews();

const at = (time: string): string => `2026-03-${time}:00.000Z`;

/** Plan 1 on 10 March: start, four stops, arrival. Plan 2 has neither vehicle nor any execution. */
async function loadPlans(place: ViewPlace): Promise<void> {
  await place.load(vehicle, [{ id: 7, plate: 'ABC1D23', title: 'Truck 7', fleet: { id: 1, name: 'North' } }]);
  await place.load(routePlan, [
    {
      id: 1,
      status: 'E',
      external_code: 'R-1',
      date_time_start: at('10T11:00'),
      date_time_end: at('11T03:00'),
      vehicle_id: 7,
      user_id: 3,
      user: { id: 3, name: 'Ana', login: 'ana' },
      total_distance: 42.5,
    },
    { id: 2, status: 'P', external_code: 'R-2', date_time_start: '2026-03-11T02:30:00.000Z' },
  ]);
  const stop = (id: number, order: number, type: string, status: string, scheduled: string) => ({
    id,
    route_plan_id: 1,
    external_code: `S-${id}`,
    type,
    order,
    optimized_order: order,
    status,
    time_scheduled: at(scheduled),
  });
  await place.load(routePoint, [
    stop(10, 0, 'PA', 'R', '10T11:00'),
    stop(11, 1, 'PE', 'E', '10T12:00'),
    stop(12, 2, 'PE', 'D', '10T13:00'),
    stop(13, 3, 'CO', 'E', '11T02:50'),
    stop(14, 4, 'PE', 'M', '10T15:00'),
    stop(15, 5, 'PE', 'P', '10T16:00'),
    { id: 21, route_plan_id: 2, plan_start: '2026-03-11T02:30:00.000Z', type: 'Entrega', status: 'X', order: 1 },
  ]);
  await place.load(routePointExecution, [
    { id: 10, route_point_id: 10, return_date: at('10T11:05'), hodometer_picture: 'h.png' },
    { id: 11, route_point_id: 11, return_date: at('10T13:30'), pictures: 'p.png', signature_img: 's.png' },
    {
      id: 12,
      route_point_id: 12,
      return_date: at('10T12:58'),
      route_return_reason: { id: 1, name: 'Customer absent' },
    },
    // Returned first, delivered at the second attempt, after midnight UTC and before midnight in São Paulo.
    {
      id: 13,
      route_point_id: 13,
      return_date: at('10T14:00'),
      route_return_reason: { id: 2, name: 'Closed' },
    },
    { id: 99, route_point_id: 13, return_date: at('11T02:59'), pictures: '' },
    {
      id: 14,
      route_point_id: 14,
      return_date: at('11T09:00'),
      route_executed_reason: { id: 5, name: 'Confirmed by telephone' },
    },
  ]);
  await place.load(routePointItem, [
    { route_point_id: 11, position: 0, external_code: 'a', value: 0.1, quantity: 2 },
    { route_point_id: 11, position: 1, external_code: 'b', value: 0.2, quantity: 3 },
  ]);
}

describe.each(engineCases)('the views of deliveries on $name', (engineCase) => {
  it('compare plan and execution, and give null where they cannot be compared', async () => {
    const place = await openViews(engineCase);
    await loadPlans(place);
    const columns = [
      'stop_id',
      'stop_kind',
      'is_customer_stop',
      'day',
      'executed_at',
      'executed_local',
      'late_by_seconds',
      'is_on_time',
    ];
    expect(await place.rows('bi_delivery', columns)).toEqual([
      [10, 'start', false, '2026-03-10', at('10T11:05'), '2026-03-10 08:05:00', 300, true],
      [11, 'delivery', true, '2026-03-10', at('10T13:30'), '2026-03-10 10:30:00', 5_400, false],
      [12, 'delivery', true, '2026-03-10', at('10T12:58'), '2026-03-10 09:58:00', -120, null],
      [13, 'pick-up', true, '2026-03-10', at('11T02:59'), '2026-03-10 23:59:00', 540, true],
      [14, 'delivery', true, '2026-03-10', at('11T09:00'), '2026-03-11 06:00:00', null, null],
      [15, 'delivery', true, '2026-03-10', null, null, null, null],
      [21, 'delivery', true, '2026-03-10', null, null, null, null],
    ]);
  });

  it('judge lateness by the tolerance in the configuration', async () => {
    const place = await openViews(engineCase);
    await loadPlans(place);
    const onTime = async () =>
      (await place.rows('bi_delivery', ['stop_id', 'is_on_time'], 'is_on_time')).map(([id]) => id);
    const plan = () => place.rows('bi_route_plan', ['stops_on_time', 'stops_late'], 'plan_id = 1');
    await fillStopRules(place.engine, { lateAfterMs: 539_000 });
    expect([await onTime(), await plan()]).toEqual([[10], [[0, 2]]]);
    await fillStopRules(place.engine, { lateAfterMs: 5_400_000 });
    expect([await onTime(), await plan()]).toEqual([[10, 11, 13], [[2, 0]]]);
  });

  it('show outcome, attempts, reason and evidence', async () => {
    const place = await openViews(engineCase);
    await loadPlans(place);
    const columns = [
      'stop_id',
      'outcome',
      'is_done',
      'is_returned',
      'is_overdue',
      'attempts',
      'is_first_attempt_success',
      'return_reason',
      'executed_reason',
      'has_picture',
      'has_signature',
      'has_evidence',
      'item_count',
      'item_quantity',
      'item_value',
    ];
    const telephone = 'Confirmed by telephone';
    expect(await place.rows('bi_delivery', columns)).toEqual([
      [10, 'Performed', true, false, false, 1, true, null, null, false, false, true, 0, null, null],
      [11, 'Delivered', true, false, false, 1, true, null, null, true, true, true, 2, 5, 0.3],
      [12, 'Returned', false, true, false, 1, false, 'Customer absent', null, false, false, false, 0, null, null],
      [13, 'Delivered', true, false, false, 2, false, null, null, false, false, false, 0, null, null],
      [14, 'Performed manually', true, false, false, 1, true, null, telephone, false, false, false, 0, null, null],
      [15, 'Planned', false, false, true, 0, null, null, null, false, false, false, 0, null, null],
      [21, 'X', false, false, false, 0, null, null, null, false, false, false, 0, null, null],
    ]);
  });

  it('compare the planned with the executed order', async () => {
    const place = await openViews(engineCase);
    await loadPlans(place);
    const columns = ['stop_id', 'planned_order', 'executed_order', 'is_in_planned_order'];
    expect(await place.rows('bi_delivery', columns, 'plan_id = 1')).toEqual([
      [10, 0, 1, true],
      [11, 1, 3, false],
      [12, 2, 2, true],
      [13, 3, 4, true],
      [14, 4, null, null],
      [15, 5, null, null],
    ]);
  });

  it('take the vehicle from the plan or the fleet, or have none', async () => {
    const place = await openViews(engineCase);
    await loadPlans(place);
    await place.load(routePlan, [{ id: 3, vehicle_id: 999, vehicle: { id: 999, plate: 'GONE999' } }]);
    await place.load(routePoint, [{ id: 31, route_plan_id: 3 }]);
    const columns = ['stop_id', 'plan_code', 'vehicle_id', 'vehicle_plate', 'fleet_name', 'agent_name'];
    expect(await place.rows('bi_delivery', columns, 'stop_id in (11, 21, 31)')).toEqual([
      [11, 'R-1', 7, 'ABC1D23', 'North', 'Ana'],
      [21, 'R-2', null, null, null, null],
      [31, null, 999, 'GONE999', null, null],
    ]);
  });

  it('leave out records that the service no longer returns', async () => {
    const place = await openViews(engineCase);
    await loadPlans(place);
    const metadata = metadataAt('run-2', '2026-03-21T00:00:00.000Z');
    await place.engine.write(async (tx) => {
      await tx.markMissing(routePointExecution, { route_point_id: { in: [13] } }, [[13]], metadata);
      await tx.markMissing(routePoint, { route_plan_id: { in: [1] } }, [[11], [13], [15]], metadata);
      await tx.markMissing(routePlan, {}, [[1]], metadata);
    });
    const columns = ['stop_id', 'executed_at', 'attempts', 'executed_order'];
    expect(await place.rows('bi_delivery', columns)).toEqual([
      [11, at('10T13:30'), 1, 1],
      [13, at('10T14:00'), 1, 2],
      [15, null, 0, null],
    ]);
    expect(await place.rows('bi_route_plan', ['plan_id'])).toEqual([[1]]);
  });

  it('and the page take an execution with a time for later than one without', async () => {
    const place = await openViews(engineCase);
    await loadPlans(place);
    await place.load(routePointExecution, [{ id: 100, route_point_id: 11, latitude: 1 }]);
    const [, stop] = await planPoints(place.engine, 1);
    expect([[stop?.id, stop?.executed_at]]).toEqual(
      await place.rows('bi_delivery', ['stop_id', 'executed_at'], 'stop_id = 11'),
    );
    expect(stop?.executed_at).toBe(at('10T13:30'));
  });

  it('and the page leave out events that the service no longer returns', async () => {
    const place = await openViews(engineCase);
    const fields = { begin_date: at('10T12:00'), vehicle: { id: 7 } };
    const ids = [
      [1, 61],
      [2, 61],
      [3, 62],
    ];
    await place.load(
      event,
      ids.map(([id, event_category]) => ({ id, event_category, ...fields })),
    );
    const range = { begin_date: { from: at('10T00:00'), to: at('11T00:00') } };
    await place.engine.write((tx) => tx.markMissing(event, range, [[61, 1]], metadataAt('run-2', LOADED_AT)));
    expect(await dayEvents(place.engine, '2026-03-10')).toEqual([{ event_category: 61, n: 1 }]);
  });

  it('sum the stops of a plan', async () => {
    const place = await openViews(engineCase);
    await loadPlans(place);
    await place.load(routePlan, [{ id: 1, status: 'C', external_code: 'R-1' }], '2026-03-11T12:00:00.000Z');
    await place.insert('push_outbox', [
      {
        kind: 'route_plans',
        external_code: 'R-1',
        state: 'confirmed',
        content_hash: 'x',
        remote_id: 1,
        remote_key: 'R-1',
        attempts: 1,
        unclear_sends: 0,
        created_at: at('09T10:00'),
        updated_at: at('09T10:00'),
        revision: 1,
      },
    ]);
    const columns = [
      'plan_id',
      'status_name',
      'is_completed',
      'stops',
      'stops_done',
      'stops_returned',
      'stops_open',
      'stops_on_time',
      'stops_late',
      'first_executed_at',
      'last_executed_at',
      'in_execution_seen_at',
      'completed_seen_at',
      'push_state',
    ];
    expect(await place.rows('bi_route_plan', columns)).toEqual([
      [
        1,
        'Completed',
        true,
        5,
        3,
        1,
        1,
        1,
        1,
        at('10T11:05'),
        at('11T02:59'),
        '2026-03-20T00:00:00.000Z',
        '2026-03-11T12:00:00.000Z',
        'confirmed',
      ],
      [2, 'Awaiting execution', false, 1, 0, 0, 0, 0, 0, null, null, null, null, null],
    ]);
  });

  it('give a plan its local day', async () => {
    const place = await openViews(engineCase);
    await loadPlans(place);
    expect(await place.rows('bi_route_plan', ['plan_id', 'day', 'planned_start_local'])).toEqual([
      [1, '2026-03-10', '2026-03-10 08:00:00'],
      [2, '2026-03-10', '2026-03-10 23:30:00'],
    ]);
  });
});

describe.each(engineCases)('bi_missing_proof on $name', (engineCase) => {
  it('has the executed stops without the evidence that the configuration requires', async () => {
    const place = await openViews(engineCase);
    await loadPlans(place);
    await place.load(routePoint, [
      { id: 16, route_plan_id: 1, external_code: 'S-16', type: 'PE', status: 'E', disable_picture: true },
    ]);
    await place.load(routePointExecution, [{ id: 16, route_point_id: 16, return_date: at('10T18:00') }]);
    // Filled in on 10 March in São Paulo, which is the 11th in UTC.
    const form = { checklist_form: { id: 1, name: 'Daily' }, user_id: 3 };
    await place.load(checklist, [{ id: 1, ...form, date_executed: '2026-03-11T01:00:00.000Z' }]);
    const lacking = () =>
      place.rows('bi_missing_proof', [
        'stop_id',
        'day',
        'by_office',
        'lacks_picture',
        'lacks_signature',
        'lacks_checklist',
      ]);

    expect(await lacking()).toEqual([]);
    await fillProofRules(place.engine, { picture: true, signature: false, checklists: [] });
    expect(await lacking()).toEqual([
      [13, '2026-03-10', false, true, false, false],
      [14, '2026-03-11', true, true, false, false],
    ]);
    await fillProofRules(place.engine, { picture: false, signature: true, checklists: ['Daily'] });
    expect(await lacking()).toEqual([
      [13, '2026-03-10', false, false, true, false],
      [14, '2026-03-11', true, false, true, true],
      [16, '2026-03-10', false, false, true, false],
    ]);
    await fillProofRules(place.engine, { picture: false, signature: false, checklists: ['Daily', 'Weekly'] });
    expect((await lacking()).map(([id]) => id)).toEqual([11, 13, 14, 16]);
    expect(await missingProof(place.engine, { day: '2026-03-11' })).toMatchObject([
      { stop_code: 'S-14', agent_name: 'Ana', by_office: true, lacks_picture: false, lacks_checklist: true },
    ]);
    const byAgent = proofByAgent(await missingProof(place.engine));
    expect(byAgent).toMatchObject([
      { day: '2026-03-11', agent: 'Ana', stops: 1, by_office: 1 },
      { day: '2026-03-10', agent: 'Ana', stops: 3, by_office: 0 },
    ]);
    await fillProofRules(place.engine, { picture: false, signature: true, checklists: [] });
    await place.load(routePoint, [{ id: 17, route_plan_id: 1, type: 'PE', status: 'E' }]);
    const days = (await missingProof(place.engine)).map(({ day }) => day);
    expect(days).toEqual(['2026-03-11', '2026-03-10', '2026-03-10', null]);
  });

  it('knows until when plans and checklists were read, and which forms no checklist has', async () => {
    const place = await openViews(engineCase);
    const readings = (day?: string) => proofReadings(place.engine, { day, today: '2026-03-21' });
    const both = (read_until: string | null, is_known = true) =>
      ['route_plan', 'checklist'].map((table) => ({ table, read_until, is_known }));
    const plans = [{ table: 'route_plan', read_until: null, is_known: true }];
    expect(await readings()).toEqual({ read: plans, unused_forms: [] });
    await fillProofRules(place.engine, { picture: false, signature: false, checklists: ['Weekly', 'Daily'] });
    expect(await readings()).toEqual({ read: both(null), unused_forms: [] });

    const job = { job: 'pull', scopes: '%', vehicle_scope: null, driver_scope: null };
    await fillTableJobs(
      place.engine,
      ['route_plan', 'checklist'].map((table_name) => ({ table_name, ...job })),
    );
    const [begin_at, end_at] = [at('01T03:00'), at('10T15:00')];
    const reading = { job: 'pull', scope: 'all', begin_at, end_at, covered_at: end_at, run_id: 'run-1' };
    await place.insert('sync_coverage', [reading]);
    await place.load(checklist, [{ id: 1, checklist_form: { id: 1, name: 'Daily' } }]);
    expect(await readings()).toEqual({ read: both(end_at), unused_forms: ['Weekly'] });
    expect(await readings('2026-03-10')).toEqual({ read: both(end_at), unused_forms: ['Weekly'] });
    expect(await readings('2026-03-09')).toEqual({ read: both(at('10T03:00')), unused_forms: ['Weekly'] });
    expect(await readings('2026-03-11')).toEqual({ read: both(null), unused_forms: [] });
    expect(await readings('2099-01-01')).toEqual({ read: both(null), unused_forms: [] });
    expect(await readings('1999-01-01')).toEqual({ read: both(null, false), unused_forms: [] });
  });
});
