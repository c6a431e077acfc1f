// The result that is laid beside a finished file: each item's state, and what could not be read.
import { itemsOf, type JournalState } from './file-journal.ts';
import type { Outcome } from './source.ts';

/** An outcome as the result file and the HTTP call have it. */
export interface ToldOutcome {
  external_code: string;
  /** ISO instant. */
  period_start: string | null;
  state: string;
  remote_id: number | null;
  message: string | null;
  reasons: string[];
}

export interface FileResult {
  file: string;
  read_at: string;
  finished_at: string;
  results: ToldOutcome[];
  /** What belongs to no item. */
  faults: { origin: string; reason: string }[];
}

/** A journal of an earlier version has outcomes without a start. */
export const toldOutcome = ({
  externalCode,
  periodStart = null,
  state,
  remoteId,
  message,
  reasons = [],
}: Outcome): ToldOutcome => ({
  external_code: externalCode,
  period_start: periodStart,
  state,
  remote_id: remoteId,
  message,
  reasons,
});

export function resultOf(file: string, state: JournalState, finishedAt: string): FileResult {
  const outcomes = itemsOf(state).flatMap(({ outcome }) => outcome ?? []);
  return {
    file,
    read_at: state.readAt,
    finished_at: finishedAt,
    results: [...outcomes.map(toldOutcome), ...unreadItems(state)],
    faults: state.faults
      .filter(({ externalCode }) => externalCode === undefined)
      .map(({ origin, reason }) => ({ origin, reason })),
  };
}

/** An item that could not be read is rejected, with every reason. */
function unreadItems({ faults }: JournalState): ToldOutcome[] {
  const named = faults.filter(({ externalCode }) => externalCode !== undefined);
  const byItem = Map.groupBy(named, ({ externalCode, startDay }) => JSON.stringify([externalCode, startDay]));
  return [...byItem.values()].map((own) => ({
    external_code: own[0]?.externalCode ?? '',
    period_start: null,
    state: 'rejected',
    remote_id: null,
    message: 'could not be read',
    reasons: own.map(({ origin, reason }) => `${origin}: ${reason}`),
  }));
}
