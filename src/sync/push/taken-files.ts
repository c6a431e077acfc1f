// Which dropped files were taken and are not finished: a small fact in the warehouse for each file. It is stored with the last
// batch of the file's items, so a file is offered again if and only if not all of it was taken.
import type { TakenFile } from '../../erp/source.ts';
import { deleteFact, factsNamed, readFact, writeFact } from '../../warehouse/control/learned-facts.ts';
import type { Engine, Transaction } from '../../warehouse/engine.ts';
import { dropCodesOf, reopenNotifications } from '../../warehouse/outbox/queries.ts';
import type { PushRun } from './kind.ts';

const factName = (feed: string, file = ''): string => `taken file ${feed} ${file}`;

export const takenFiles = (engine: Pick<Engine, 'read'>, feed: string): Promise<TakenFile[]> =>
  engine.read((sql) => factsNamed<TakenFile>(sql, factName(feed)));

/** Takes the place of an earlier content of the same name. */
export async function markTaken(tx: Transaction, push: PushRun, file: TakenFile): Promise<void> {
  const name = factName(push.kind.feed, file.name);
  const before = await readFact<TakenFile>({ read: (work) => work(tx.sql) }, name);
  if (before !== undefined) await abandonFile(tx, push, before);
  await writeFact(tx, name, file, Date.parse(file.readAt));
}

/** Of a file that never gets a result: its outcomes that were left to the result are acknowledged one by one. */
export async function abandonFile(tx: Transaction, push: PushRun, file: TakenFile): Promise<void> {
  const { kind, context } = push;
  await reopenNotifications(tx.sql, kind.feed, context.dependencies.redactor.redact(file.name), file.readAt);
  await deleteFact(tx.sql, factName(kind.feed, file.name));
}

/** Of a file whose result is written. */
export async function closeFile(
  { sql }: Transaction,
  { kind, context }: PushRun,
  file: TakenFile,
): Promise<void> {
  // Only agents have codes that the outbox does not hold in clear for good.
  if (kind.feed === 'agents')
    await dropCodesOf(sql, kind.feed, context.dependencies.redactor.redact(file.name));
  await deleteFact(sql, factName(kind.feed, file.name));
}
