// Records which dropped files were taken and wait for their results, one fact in the warehouse for each file. The fact is
// stored with the last batch of the file's items, so a file is offered again if and only if not all of it was taken.
import type { TakenFile } from '../../erp/source.ts';
import { deleteFact, factsNamed, writeFact } from '../../warehouse/control/learned-facts.ts';
import type { Engine, Transaction } from '../../warehouse/engine.ts';
import { takenFileFact } from '../../warehouse/outbox/lists.ts';

export const takenFiles = (engine: Pick<Engine, 'read'>, feed: string): Promise<TakenFile[]> =>
  engine.read((sql) => factsNamed<TakenFile>(sql, takenFileFact(feed)));

/** Replaces an earlier file of the same name. */
export const markTaken = (tx: Transaction, feed: string, file: TakenFile): Promise<void> =>
  writeFact(tx, takenFileFact(feed, file.name), file, Date.parse(file.readAt));

/** For a file that has its result, or never gets one. Outcomes that are in no result are acknowledged by calls. */
export const forgetFile = ({ sql }: Transaction, feed: string, file: TakenFile): Promise<void> =>
  deleteFact(sql, takenFileFact(feed, file.name));
