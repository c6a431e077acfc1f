// GET /checklist/, /checklist/<id>, /checklist_form_field_executed/ and /checklist/picture/. The picture call serves
// every image whose hash the sandbox sent, including those of route points.
import { z } from 'zod';
import { jsonAnswer, Rejection, textAnswer } from '../http/answer.ts';
import { call } from '../http/call.ts';
import { instant, integerText, list, one, readQuery } from '../http/parameters.ts';
import { listAnswer, oneAnswer } from '../http/shapes.ts';
import { answerRecord, checklistRecord, checklistsBetween, findChecklist } from '../world/checklists.ts';
import { drawImage } from '../world/images.ts';

const DEFAULT_INCLUDES = ['user', 'checklist_form'];
const ANSWER_INCLUDES = ['checklist_form_field', 'checklist_form_field.table', 'checklist_form_field.table.items'];

const LISTING = z.object({
  date_time_start: one(instant),
  date_time_end: one(instant),
  checklist_code: one(integerText.optional()),
  user_ids: list(integerText).default([]),
  includes: list(z.string()).default(DEFAULT_INCLUDES),
});
const ANSWERS = z.object({ id: one(integerText), includes: list(z.enum(ANSWER_INCLUDES)) });
const PICTURE = z.object({ picture: one(z.string()) });

export const checklistCalls = [
  call('checklist', 'GET', '/checklist/:id{[0-9]+}', ({ world }, { params }) => {
    const found = findChecklist(world, Number(params.id));
    if (found === undefined) throw new Rejection(404, 'No such checklist');
    return oneAnswer(world.shapes, checklistRecord(world, found, DEFAULT_INCLUDES));
  }),
  call('checklists', 'GET', '/checklist/', ({ world }, { query }) => {
    const wanted = readQuery(LISTING, query);
    const { checklist_code: code, user_ids: users } = wanted;
    const found = checklistsBetween(world, wanted.date_time_start, wanted.date_time_end).filter(
      ({ id, userId }) => (code === undefined || id === code) && (users.length === 0 || users.includes(userId)),
    );
    const records = found.map((checklist) => checklistRecord(world, checklist, wanted.includes));
    return listAnswer(world.shapes, records);
  }),
  call('checklist-answers', 'GET', '/checklist_form_field_executed/', ({ world }, { query }) => {
    const { id, includes } = readQuery(ANSWERS, query);
    const found = findChecklist(world, id);
    const records = found?.answers.map((answer) => answerRecord(world, found, answer, includes));
    return listAnswer(world.shapes, records ?? []);
  }),
  call('checklist-picture', 'GET', '/checklist/picture/', ({ world: { seed, shapes } }, { query }) => {
    const image = drawImage(seed, readQuery(PICTURE, query).picture)?.toString('base64');
    if (image === undefined) throw new Rejection(404, 'No such picture');
    if (shapes.picture === 'json') return jsonAnswer({ data: image });
    return textAnswer(shapes.picture === 'data-uri' ? `data:image/png;base64,${image}` : image, 'text/plain');
  }),
];
