// One row per answer of a checklist, with question, agent, time, place and the file of the picture.
import { boolean, date, integer, real, text, view } from '../schema/view.ts';
import { checklist } from '../tables/checklist.ts';
import { checklistAnswer } from '../tables/checklist-answer.ts';
import { driver } from '../tables/driver.ts';
import { image } from '../tables/image.ts';
import { atAndLocal } from './shared/local-columns.ts';

export const biChecklistAnswer = view({
  name: 'bi_checklist_answer',
  meaning: 'One row per answer of a checklist: question, answer, risk, picture, agent, time and place.',
  key: ['answer_id'],
  tables: { answer: checklistAnswer, checklist, person: driver, image },
  columns: {
    answer_id: integer('Identifier of the answer.', 'answer.id'),
    checklist_id: integer('Checklist that was filled in.', 'answer.checklist_id'),
    form_id: integer('Form of the checklist.', 'checklist.checklist_form_id'),
    form_name: text('Name of the form.', 'checklist.checklist_form_name'),
    day: date('Local day on which the checklist was filled in.', 'checklist._day'),
    ...atAndLocal('executed', 'the checklist was filled in', 'checklist.date_executed'),
    ...atAndLocal('received', 'the checklist reached the service', 'checklist.date_created'),
    agent_id: integer('Agent who filled in the checklist.', 'checklist.user_id'),
    agent_name: text('Name of the agent.', 'checklist.user_name'),
    driver_id: integer('The same person in the table driver.', 'person.id'),
    cost_center_name: text('Cost centre of that person.', 'person.cost_center_name'),
    latitude: real('Latitude of the place in degrees.', 'checklist.latitude'),
    longitude: real('Longitude of the place in degrees.', 'checklist.longitude'),
    question_id: integer('Field of the form.', 'answer.checklist_form_field_id'),
    question: text('Question of the field.', 'answer.checklist_form_field_name'),
    question_type: text('Type of the field.', 'answer.checklist_form_field_type'),
    question_order: integer('Position of the field in the form.', 'answer.checklist_form_field_order'),
    answer: text('The answer given.', 'answer.value'),
    risk_level: text('Risk as the service codes it.', 'answer.risk_level'),
    risk: text(
      'Risk in words: high, medium or low; any other code unchanged.',
      `case answer.risk_level when 'H' then 'high' when 'M' then 'medium' when 'L' then 'low'
      else answer.risk_level end`,
    ),
    is_high_risk: boolean('True if the risk is high.', `(coalesce(answer.risk_level, '') = 'H')`),
    has_picture: boolean('True if a picture was taken.', `(coalesce(answer.picture, '') <> '')`),
    picture_file: text('Path of the picture below the images folder; null if there is none yet.', 'image.file'),
  },
  // A login that two people share identifies neither of them.
  from: `
from checklist_answer as answer
left join checklist on checklist.id = answer.checklist_id
left join driver as person on person.id = (
  select min(same.id) from driver as same where same.user_id = checklist.user_id having count(*) = 1)
left join image on image.hash = answer.picture
where answer._missing_since is null and checklist._missing_since is null`,
});
