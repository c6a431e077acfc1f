// Pulls checklists by the date they were filled in, with their answers and pictures. The answers of a checklist older
// than `settle` are read again only if its summary changes. Each picture is fetched once.
import { checklistAnswers } from '../src/fleet/endpoints/checklist-answers.ts';
import { checklists } from '../src/fleet/endpoints/checklists.ts';
import { pull } from '../src/sync/pull/define.ts';
import {
  checklistCost,
  checklistOptions,
  planChecklists,
  splitChecklists,
} from '../src/sync/pull/resources/checklists/plan.ts';
import { readChecklists } from '../src/sync/pull/resources/checklists/read.ts';
import { checklist } from '../src/warehouse/tables/checklist.ts';
import { checklistAnswer } from '../src/warehouse/tables/checklist-answer.ts';
import { image } from '../src/warehouse/tables/image.ts';

export default pull({
  meaning: 'Pulls checklists with their answers and pictures.',
  schedule: '*/10 * * * *',
  options: checklistOptions,
  into: [
    [checklists, checklist],
    [checklistAnswers, checklistAnswer],
    [null, image],
  ],
  coverage: 'account',
  plan: planChecklists,
  read: readChecklists,
  split: splitChecklists,
  cost: checklistCost,
});
