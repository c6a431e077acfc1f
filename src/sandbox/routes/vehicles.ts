// GET /vehicle/. The API document does not explain `visible`; here only cancelled vehicles are not visible.
import { z } from 'zod';
import { call } from '../http/call.ts';
import { instant, integerText, list, one, readQuery } from '../http/parameters.ts';
import { listAnswer } from '../http/shapes.ts';
import { costCenterOf, VEHICLE_INCLUDES, vehicleRecord } from './vehicle-records.ts';

const TEXT_FILTERS = ['status', 'title', 'plate', 'chassi'] as const;

const LISTING = z.object({
  visible: one(z.enum(['0', '1', '2']).default('2')),
  status: one(z.enum(['A', 'B', 'C']).optional()),
  title: one(z.string().optional()),
  plate: one(z.string().optional()),
  chassi: one(z.string().optional()),
  cost_center_ids: list(integerText).default([]),
  date_created_begin: one(instant.default(-Infinity)),
  date_created_end: one(instant.default(Infinity)),
  includes: list(z.enum(VEHICLE_INCLUDES)),
});

export const vehicleCalls = [
  call('vehicles', 'GET', '/vehicle/', ({ world }, { query }) => {
    const wanted = readQuery(LISTING, query);
    const { visible, cost_center_ids: centers, date_created_begin: from, date_created_end: to } = wanted;
    const created = world.roster.listed(world.now()).filter((index) => {
      const createdAt = world.roster.life(index)?.createdAt ?? 0;
      const isInCenter = centers.length === 0 || centers.includes(costCenterOf(index).id);
      return createdAt >= from && createdAt <= to && isInCenter;
    });
    const records = created
      .map((index) => vehicleRecord(world, index, wanted.includes))
      .filter(
        (record) =>
          (visible === '2' || (visible === '0') === (record.status === 'C')) &&
          TEXT_FILTERS.every((name) => wanted[name] === undefined || record[name] === wanted[name]),
      );
    return listAnswer(world.shapes, records);
  }),
];
