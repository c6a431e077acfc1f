// One row per completed checklist. Its answers are in checklist_answer.
import { baseTable, instant, integer, real, text } from '../schema/table.ts';

export const checklist = baseTable({
  name: 'checklist',
  meaning: 'Completed checklists, one row each.',
  source: 'GET /checklist/',
  key: ['id'],
  retentionBy: 'date_created',
  columns: {
    id: integer('Identifier given by the service.'),
    checklist_form_id: integer('Form that was filled in.', { alias: 'checklist_form.id' }),
    checklist_form_name: text('Name of the form.', { from: 'checklist_form.name' }),
    checklist_form_icon: text('Icon of the form.', { from: 'checklist_form.icon' }),
    user_id: integer('Agent who filled in the checklist, as in driver.user_id.', { alias: 'user.id' }),
    user_name: text('Name of the agent.', { from: 'user.name', personal: true }),
    customer_id: integer('Account that the checklist belongs to.'),
    date_executed: instant('When the checklist was filled in.'),
    date_created: instant('When the checklist reached the service.'),
    latitude: real('Latitude of the place in degrees.'),
    longitude: real('Longitude of the place in degrees.'),
    count_items: integer('Number of answers.'),
    count_high_risk: integer('Number of answers with a high risk.'),
    count_medium_risk: integer('Number of answers with a medium risk.'),
    count_low_risk: integer('Number of answers with a low risk.'),
    receipt_email: text('E-mail address of the receipt; may be empty.', { personal: true }),
    signature: text('Picture of the signature; see image.hash.'),
  },
  indexes: [['date_executed'], ['_day']],
  dayOf: ['date_executed'],
});
