// One row per answer of a checklist, with its field and the list of possible answers.
import { baseTable, boolean, instant, integer, text } from '../schema/table.ts';

const field = (name: string) => ({ from: `checklist_form_field.${name}` });

export const checklistAnswer = baseTable({
  name: 'checklist_answer',
  meaning: 'Answers of checklists, one row per field.',
  source: 'GET /checklist_form_field_executed/',
  key: ['id'],
  parent: { table: 'checklist', column: 'checklist_id' },
  columns: {
    id: integer('Identifier given by the service.'),
    checklist_id: integer('Checklist that the answer belongs to.', { required: true }),
    value: text('The answer given; may be a text that the agent wrote.', { personal: true }),
    risk_level: text('Risk of the answer; H high and L low are known.'),
    picture: text('Picture taken with the answer; see image.hash.'),
    checklist_form_field_id: integer('Field of the form.', field('id')),
    checklist_form_field_name: text('Question of the field.', field('name')),
    checklist_form_field_type: text('Type of the field.', field('type')),
    checklist_form_field_order: integer('Position of the field in the form.', field('order')),
    checklist_form_field_can_photo: boolean('True if a picture may be taken.', field('can_photo')),
    checklist_form_field_can_additional_data: boolean(
      'True if additional data may be entered.',
      field('can_additional_data'),
    ),
    checklist_form_field_table_id: integer('List that the answer is chosen from.', field('table.id')),
    checklist_form_field_table_customer_id: integer('Account that the list belongs to.', field('table.customer_id')),
    checklist_form_field_table_name: text('Name of the list.', field('table.name')),
    checklist_form_field_table_date_created: instant('When the list was created.', field('table.date_created')),
  },
  indexes: [['checklist_id']],
});
