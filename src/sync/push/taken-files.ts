// Records which dropped files were taken and are not finished, one fact in the warehouse for each file. The fact is stored
// with the last batch of the file's items, so a file is offered again if and only if not all of it was taken.
import type { TakenFile } from '../../erp/source.ts';
import { deleteFact, factsNamed, readFact, writeFact } from '../../warehouse/control/learned-facts.ts';
import type { Engine, Transaction } from '../../warehouse/engine.ts';
import { dropCodesOf, reopenNotifications } from '../../warehouse/outbox/queries.ts';
import type { PushRun } from './kind.ts';

const factName = (feed: string, file = ''): string => `taken file ${feed} ${file}`;

export const takenFiles = (engine: Pick<Engine, 'read'>, feed: string): Promise<TakenFile[]> =>
  engine.read((sql) => factsNamed<TakenFile>(sql, factName(feed)));

/** Replaces an earlier file of the same name. */
export async function markTaken(tx: Transaction, push: PushRun, file: TakenFile): Promise<void> {
  const name = factName(push.kind.feed, file.name);
  const before = await readFact<TakenFile>({ read: (work) => work(tx.sql) }, name);
  if (before !== undefined) await abandonFile(tx, push, before);
  await writeFact(tx, name, file, Date.parse(file.readAt));
}

/** For a file that never gets a result: the outcomes that were left to the result are acknowledged by calls instead. */
export async function abandonFile(tx: Transaction, push: PushRun, file: TakenFile): Promise<void> {
  const { kind, context } = push;
  await reopenNotifications(tx.sql, kind.feed, context.dependencies.redactor.redact(file.name), file.readAt);
  await deleteFact(tx.sql, factName(kind.feed, file.name));
}

/** For a file whose result is written. */
export async function closeFile(
  { sql }: Transaction,
  { kind, context }: PushRun,
  file: TakenFile,
): Promise<void> {
  // Only codes of agents may be tax numbers, which the outbox must not keep in clear.
  if (kind.feed === 'agents')
    await dropCodesOf(sql, kind.feed, context.dependencies.redactor.redact(file.name));
  await deleteFact(sql, factName(kind.feed, file.name));
}
