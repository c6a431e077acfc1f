// The forms that drivers fill in before they leave, with their fields and the answers to choose from.

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

export const CHECKLIST_FORMS = [
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
