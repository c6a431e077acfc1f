// GET /vehicle/. The API document does not explain `visible`; here only cancelled vehicles are not visible.
import { type Call, readCall } from '../http/call.ts';
import {
  integerCollection,
  optionalInstant,
  optionalWord,
  type Query,
  requireCollection,
  wordCollection,
} from '../http/parameters.ts';
import { listAnswer } from '../http/shapes.ts';
import type { World } from '../world/world.ts';
import { COST_CENTERS, VEHICLE_INCLUDES, vehicleRecord } from './vehicle-records.ts';

type Test = (index: number, record: Record<string, unknown>) => boolean;

export const vehicleCalls = (world: World): Call[] => [
  readCall('vehicles', '/vehicle/', ({ query }) => {
    const includes = requireCollection('includes', wordCollection(query, 'includes', VEHICLE_INCLUDES));
    const tests = filters(world, query);
    const records: unknown[] = [];
    for (const index of world.roster.listed(world.now())) {
      const record = vehicleRecord(world, index, includes);
      if (tests.every((test) => test(index, record))) records.push(record);
    }
    return listAnswer(world.shapes, records);
  }),
];

function filters(world: World, query: Query): Test[] {
  const tests: Test[] = [];
  const visible = optionalWord(query, 'visible', ['0', '1', '2']);
  if (visible === '0') tests.push((_, record) => record.status === 'C');
  if (visible === '1') tests.push((_, record) => record.status !== 'C');
  const status = optionalWord(query, 'status', ['A', 'B', 'C']);
  if (status !== undefined) tests.push((_, record) => record.status === status);
  for (const name of ['title', 'plate', 'chassi']) {
    const wanted = query.get(name);
    if (wanted) tests.push((_, record) => record[name] === wanted);
  }
  const centers = integerCollection(query, 'cost_center_ids');
  if (centers !== undefined && centers.length > 0) {
    tests.push((index) => centers.includes(COST_CENTERS[index % COST_CENTERS.length]?.id ?? -1));
  }
  const begin = optionalInstant(query, 'date_created_begin');
  const end = optionalInstant(query, 'date_created_end');
  const createdAt = (index: number): number => world.roster.life(index)?.createdAt ?? 0;
  if (begin !== undefined) tests.push((index) => createdAt(index) >= begin);
  if (end !== undefined) tests.push((index) => createdAt(index) <= end);
  return tests;
}
