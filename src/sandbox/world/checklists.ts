// The checklist forms, and their executions: on most working days the driver fills in a form before leaving, with pictures
// and a signature. The service shows an execution once it has arrived.

import { dayIds, partId, userIds } from '../made-up/identifiers.ts';
import { personName } from '../made-up/names.ts';
import { plateOf } from '../made-up/plates.ts';
import { seededRandom } from '../made-up/seeded-random.ts';
import { dayOf, FOUNDING_DAY, MINUTE_MS, startOfDay } from './company-time.ts';
import { depotOf } from './daily-routes.ts';
import { imageHash } from './images.ts';
import { arrivalLag } from './route-run.ts';
import type { World } from './world.ts';

const STATE = {
  id: 1,
  customer_id: 1,
  name: 'State',
  items: [
    { id: 1, name: 'Good', risk_level: 'L' },
    { id: 2, name: 'Worn', risk_level: 'L' },
    { id: 3, name: 'Broken', risk_level: 'H' },
  ],
};

const PRESENCE = {
  id: 2,
  customer_id: 1,
  name: 'Presence',
  items: [
    { id: 4, name: 'Present', risk_level: 'L' },
    { id: 5, name: 'Missing', risk_level: 'H' },
  ],
};

const form = (id: number, name: string, icon: string, fields: [string, typeof STATE, boolean][]) => ({
  id,
  name,
  icon,
  fields: fields.map(([fieldName, table, canPhoto], i) => ({
    id: id * 100 + i + 1,
    name: fieldName,
    type: 'list',
    order: i + 1,
    can_photo: canPhoto ? 1 : 0,
    can_additional_data: 0,
    table,
  })),
});

const CHECKLIST_FORMS = [
  form(1, 'Vehicle inspection', 'truck', [
    ['Tyres', STATE, true],
    ['Brakes', STATE, false],
    ['Lights', STATE, true],
    ['Mirrors', STATE, true],
    ['Fire extinguisher', PRESENCE, false],
  ]),
  form(2, 'Delivery tools', 'box', [
    ['Hand truck', PRESENCE, true],
    ['Straps', PRESENCE, false],
    ['Telephone', STATE, false],
  ]),
  form(3, 'Cold chain', 'snowflake', [
    ['Cooling unit', STATE, true],
    ['Door seal', STATE, true],
    ['Thermometer', PRESENCE, false],
  ]),
];

type Checklist = NonNullable<ReturnType<typeof checklistOn>>;

function checklistOn(world: World, index: number, day: number) {
  const firstStop = world.activity(index, day).run?.stops[0];
  const random = seededRandom(world.seed, 'checklist', index, day);
  if (firstStop === undefined || !random.chance(0.7)) return undefined;
  const id = dayIds.of(index, day);
  const form = random.pick(CHECKLIST_FORMS);
  const executedAt = firstStop.arriveAt - random.int(10, 40) * MINUTE_MS;
  const answers = form.fields.map((field, i) => {
    const item = random.chance(0.08) ? field.table.items.at(-1) : field.table.items[0];
    const hasPicture = field.can_photo === 1 && random.chance(0.6);
    return {
      id: partId(index, day, i),
      field,
      value: item?.name ?? '',
      riskLevel: item?.risk_level ?? 'L',
      picture: hasPicture ? `${imageHash(world.seed, 'answer', id, i)}.png` : null,
    };
  });
  return {
    id,
    index,
    form,
    userId: userIds.of(index),
    executedAt,
    visibleAt: executedAt + arrivalLag(random),
    answers,
  };
}

export function findChecklist(world: World, id: number): Checklist | undefined {
  const key = dayIds.keyOf(id);
  if (key === undefined) return undefined;
  const found = checklistOn(world, key.index, key.day);
  return found !== undefined && found.visibleAt <= world.now() ? found : undefined;
}

/** Arrived executions between `from` and `to`, both included, in order of time. */
export function checklistsBetween(world: World, from: number, to: number): Checklist[] {
  const now = world.now();
  const first = Math.max(FOUNDING_DAY, dayOf(from));
  const last = Math.min(dayOf(now), dayOf(to));
  const found: Checklist[] = [];
  for (const index of world.roster.listedBetween(startOfDay(first), startOfDay(last + 1))) {
    for (let day = first; day <= last; day++) {
      const one = checklistOn(world, index, day);
      if (one !== undefined && one.visibleAt <= now && one.executedAt >= from && one.executedAt <= to) found.push(one);
    }
  }
  return found.sort((a, b) => a.executedAt - b.executedAt || a.id - b.id);
}

export function checklistRecord(world: World, one: Checklist, includes: readonly string[]): Record<string, unknown> {
  const { form, index } = one;
  const place = depotOf(world.seed, index);
  const risky = one.answers.filter((answer) => answer.riskLevel === 'H').length;
  return {
    id: one.id,
    checklist_form_id: form.id,
    ...(includes.includes('checklist_form')
      ? { checklist_form: { id: form.id, name: form.name, icon: form.icon } }
      : {}),
    user_id: one.userId,
    ...(includes.includes('user') ? { user: { id: one.userId, name: personName(world.seed, 'driver', index) } } : {}),
    customer_id: 1,
    date_executed: world.instant(one.executedAt),
    date_created: world.instant(one.visibleAt),
    latitude: place.latitude,
    longitude: place.longitude,
    count_items: one.answers.length,
    count_high_risk: risky,
    count_medium_risk: 0,
    count_low_risk: one.answers.length - risky,
    receipt_email: '',
    identifier_fields: [{ value: plateOf(world.seed, index), form_field_id: form.id * 100, form_field_name: 'Plate' }],
    signature: imageHash(world.seed, 'checklist signature', one.id),
    executed: [],
  };
}

export function answerRecord(
  world: World,
  one: Checklist,
  answer: Checklist['answers'][number],
  includes: readonly string[],
) {
  const { table, ...field } = answer.field;
  const withTable = includes.some((name) => name.startsWith('checklist_form_field.table'));
  const withItems = includes.includes('checklist_form_field.table.items');
  const { items, ...tableFields } = table;
  const date_created = world.instant(startOfDay(FOUNDING_DAY));
  return {
    id: answer.id,
    checklist_id: one.id,
    value: answer.value,
    risk_level: answer.riskLevel,
    picture: answer.picture,
    ...(includes.length === 0
      ? {}
      : {
          checklist_form_field: {
            ...field,
            ...(withTable ? { table: { ...tableFields, date_created, ...(withItems ? { items } : {}) } } : {}),
          },
        }),
  };
}
