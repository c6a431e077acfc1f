// One row per verification of a table's day: how many rows were compared, and what the difference means.
import { syncVerification } from '../control/verification.ts';
import { date, integer, real, text, view } from '../schema/view.ts';
import { atAndLocal } from './shared/local-columns.ts';

const WRONG = '(found.compared - found.equal)';

export const biVerification = view({
  name: 'bi_verification',
  meaning: 'One row per verified day of a table: rows that were read again, compared and repaired.',
  key: ['run_id', 'table_name', 'day', 'state'],
  tables: { found: syncVerification },
  columns: {
    ...atAndLocal('verified', 'the rows were compared', 'found.verified_at'),
    table_name: text('Name of the table.', 'found.table_name'),
    day: date(
      'Local day of the rows; of plans, which are read by UTC days, the local day that such a day mostly belongs to; of a list, the day of the verification.',
      'found.day',
    ),
    state: text('final if no run reads the day again by itself, else provisional.', 'found.state'),
    verdict: text(
      'equal; late if rows of a provisional day differ; drift if rows of a final day differ.',
      `case when ${WRONG} = 0 then 'equal' when found.state = 'final' then 'drift' else 'late' end`,
    ),
    compared: integer('Rows compared.', 'found.compared'),
    equal: integer('Rows that are the same in both.', 'found.equal'),
    differing: integer('Rows with another value in some column.', 'found.differing'),
    missing_here: integer(
      'Rows of the service that the warehouse did not have, or had marked as missing.',
      'found.missing_here',
    ),
    missing_there: integer('Stored rows that the service no longer has.', 'found.missing_there'),
    repaired: integer('Rows that the run has repaired.', 'found.repaired'),
    difference_ratio: real(
      'Share of the compared rows that differ or are missing, 0 to 1.',
      `cast(${WRONG} as double precision) / nullif(found.compared, 0)`,
    ),
    differing_columns: text('How many rows differ, by column, as JSON; null if none does.', 'found.differing_columns'),
    run_id: text('The run that compared the rows.', 'found.run_id'),
  },
  from: 'from sync_verification as found',
});
