// GET /checklist/, /checklist/<id>, /checklist_form_field_executed/ and /checklist/picture/. The picture call serves
// every image whose hash the sandbox sent, including those of route points.
import { type Answer, jsonAnswer, Rejection, textAnswer } from '../http/answer.ts';
import { type Call, type CallRequest, readCall } from '../http/call.ts';
import {
  collection,
  integerCollection,
  optionalInteger,
  requireCollection,
  requiredInstant,
  requiredInteger,
  requireParameter,
  wordCollection,
} from '../http/parameters.ts';
import { listAnswer, oneAnswer, type Shapes } from '../http/shapes.ts';
import {
  answerRecord,
  type Checklist,
  checklistRecord,
  checklistsBetween,
  findChecklist,
} from '../world/checklists.ts';
import { drawImage } from '../world/images.ts';
import type { World } from '../world/world.ts';

const DEFAULT_INCLUDES = ['user', 'checklist_form'] as const;
const ANSWER_INCLUDES = [
  'checklist_form_field',
  'checklist_form_field.table',
  'checklist_form_field.table.items',
] as const;

export const checklistCalls = (world: World): Call[] => [
  readCall('checklist', '/checklist/:id{[0-9]+}', ({ params }) =>
    oneAnswer(world.shapes, checklistRecord(world, known(world, Number(params.id)), DEFAULT_INCLUDES)),
  ),
  readCall('checklists', '/checklist/', (request) => listChecklists(world, request)),
  readCall('checklist-answers', '/checklist_form_field_executed/', (request) => listAnswers(world, request)),
  readCall('checklist-picture', '/checklist/picture/', ({ query }) => {
    const image = drawImage(world.seed, requireParameter(query, 'picture'));
    if (image === undefined) throw new Rejection(404, 'No such picture');
    return pictureAnswer(world.shapes, image.toString('base64'));
  }),
];

function known(world: World, id: number): Checklist {
  const one = findChecklist(world, id);
  if (one === undefined) throw new Rejection(404, 'No such checklist');
  return one;
}

function listChecklists(world: World, { query }: CallRequest) {
  const from = requiredInstant(query, 'date_time_start');
  const to = requiredInstant(query, 'date_time_end');
  const code = optionalInteger(query, 'checklist_code');
  const users = integerCollection(query, 'user_ids') ?? [];
  const includes = collection(query, 'includes') ?? DEFAULT_INCLUDES;
  const found = checklistsBetween(world, from, to).filter(
    (one) => (code === undefined || one.id === code) && (users.length === 0 || users.includes(one.userId)),
  );
  return listAnswer(
    world.shapes,
    found.map((one) => checklistRecord(world, one, includes)),
  );
}

function listAnswers(world: World, { query }: CallRequest) {
  const id = requiredInteger(query, 'id');
  const includes = requireCollection('includes', wordCollection(query, 'includes', ANSWER_INCLUDES));
  const one = findChecklist(world, id);
  return listAnswer(world.shapes, one?.answers.map((answer) => answerRecord(world, one, answer, includes)) ?? []);
}

function pictureAnswer(shapes: Shapes, base64: string): Answer {
  if (shapes.picture === 'json') return jsonAnswer({ data: base64 });
  return textAnswer(shapes.picture === 'data-uri' ? `data:image/png;base64,${base64}` : base64, 'text/plain');
}
