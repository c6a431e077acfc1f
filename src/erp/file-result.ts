// The result that is laid beside a finished file: each thing's state, and what could not be read.
import type { JournalState } from './file-journal.ts';
import type { Outcome } from './source.ts';

/** An outcome as the result file and the HTTP call have it. */
export interface ToldOutcome {
  external_code: string;
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
  /** What belongs to no thing. */
  faults: { origin: string; reason: string }[];
}

export const toldOutcome = ({
  externalCode,
  state,
  remoteId,
  message,
  reasons = [],
}: Outcome): ToldOutcome => ({
  external_code: externalCode,
  state,
  remote_id: remoteId,
  message,
  reasons,
});

export function resultOf(file: string, state: JournalState, finishedAt: string): FileResult {
  const outcomes = [...state.things.values()].filter((outcome) => outcome !== null);
  return {
    file,
    read_at: state.readAt,
    finished_at: finishedAt,
    results: [...outcomes.map(toldOutcome), ...unreadThings(state)],
    faults: state.faults
      .filter(({ externalCode }) => externalCode === undefined)
      .map(({ origin, reason }) => ({ origin, reason })),
  };
}

/** A thing that could not be read is rejected, with every reason. */
function unreadThings({ faults }: JournalState): ToldOutcome[] {
  const named = faults.filter(({ externalCode }) => externalCode !== undefined);
  const byCode = Map.groupBy(named, ({ externalCode }) => externalCode as string);
  return [...byCode].map(([code, own]) => ({
    external_code: code,
    state: 'rejected',
    remote_id: null,
    message: 'could not be read',
    reasons: own.map(({ origin, reason }) => `${origin}: ${reason}`),
  }));
}
