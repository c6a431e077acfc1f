// Reads one slice of checklists: their summaries, then the answers and new pictures of open checklists. A checklist
// commits together with its answers, and with its pictures or their errors.

import { chunks } from '../../../../core/chunks.ts';
import { checklistAnswers } from '../../../../fleet/endpoints/checklist-answers.ts';
import { checklist } from '../../../../warehouse/tables/checklist.ts';
import { checklistAnswer } from '../../../../warehouse/tables/checklist-answer.ts';
import type { Slice } from '../../../slice.ts';
import { tooMany } from '../../plan/slice-limits.ts';
import { halvedWindow } from '../../plan/window-slices.ts';
import { goneFrom } from '../../presets/unlisted.ts';
import { type RecordId, withRequested } from '../../records/record-id.ts';
import type { SliceResult, Source } from '../../types.ts';
import { type OpenChecklist, openChecklists } from './open-checklists.ts';
import { fetchPictures, imageLoad, newPictures } from './pictures.ts';
import { type ChecklistOptions, type ChecklistWork, summaries } from './plan.ts';

const INCLUDES = ['checklist_form_field', 'checklist_form_field.table', 'checklist_form_field.table.items'] as const;
/** Most checklists whose answers are in memory at once. A slice with more is cut, or stored in parts if it cannot be. */
const MOST_OPEN = 2_000;

export async function readChecklists(
  { work }: Slice<ChecklistWork>,
  source: Source,
  options: ChecklistOptions,
): Promise<SliceResult> {
  if ('pictures' in work) {
    const images = await fetchPictures(work.pictures, source, options.max_picture_mb);
    return { loads: [imageLoad(images, source)] };
  }
  const { load, gone } = await summaries.readWindow(work, source);
  const open = await openChecklists(load, source, options.settle);
  if (open.length > MOST_OPEN && halvedWindow(work) !== undefined) {
    throw tooMany(`more than ${MOST_OPEN} checklists to open`);
  }
  let last = await readOpened([], source, options);
  for (const [index, part] of chunks(open, MOST_OPEN).entries()) {
    if (index > 0) await source.commitPart(last);
    last = await readOpened(part, source, options);
  }
  return {
    loads: [load, ...last.loads],
    // The answers of a vanished checklist are marked with it.
    fullRefresh: [...last.fullRefresh, ...goneFrom(checklist, 'id', gone)],
  };
}

/** The answers of some checklists, and their new pictures. */
async function readOpened(some: readonly OpenChecklist[], source: Source, options: ChecklistOptions) {
  const answers = (await source.mapCalls(some, ({ id }, calling) => readAnswers(id, calling))).flat();
  const named = [...some.map(({ signature }) => signature), ...answers.map(pictureOf)];
  const images = await newPictures(named, source, options.max_picture_mb);
  const range = { checklist_id: { in: some.map(({ id }) => id) } };
  return {
    loads: [{ table: checklistAnswer, endpoint: checklistAnswers, records: answers }, imageLoad(images, source)],
    fullRefresh: [{ table: checklistAnswer, range }],
  };
}

async function readAnswers(id: RecordId, source: Source): Promise<unknown[]> {
  const records = await source.call(checklistAnswers, { id, includes: [...INCLUDES] });
  return records.map((record) => withRequested(record, 'checklist_id', id));
}

const pictureOf = (answer: unknown): unknown => (answer as { picture?: unknown } | null)?.picture;
