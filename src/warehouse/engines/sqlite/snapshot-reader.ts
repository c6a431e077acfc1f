// The process that reads one committed state of a SQLite file. It iterates over a statement and answers each question with
// a batch. It exits when its parent disconnects.
//   node snapshot-reader.ts <file> <lock timeout in ms>
import { DatabaseSync } from 'node:sqlite';
import type { Values } from '../../engine.ts';
import type { Answer, Question } from './snapshot.ts';

const BATCH_ROWS = 2_000;

const [file = '', lockMs] = process.argv.slice(2);
let database: DatabaseSync | undefined;
let rows: Iterator<Values> = [].values();

function opened(): DatabaseSync {
  if (database !== undefined) return database;
  database = new DatabaseSync(file, { readOnly: true, timeout: Number(lockMs) });
  database.exec('begin');
  return database;
}

function batchOf(question: Question): Answer {
  if ('statement' in question) {
    const prepared = opened().prepare(question.statement);
    prepared.setReadBigInts(true);
    prepared.setReturnArrays(true);
    rows = prepared.iterate(...(question.bindings as (string | number | null)[])) as unknown as Iterator<Values>;
  }
  const batch: Values[] = [];
  while (batch.length < BATCH_ROWS) {
    const { value, done } = rows.next();
    if (done === true) return { rows: batch, isLast: true };
    batch.push(value);
  }
  return { rows: batch, isLast: false };
}

function answerTo(question: Question): Answer {
  try {
    return batchOf(question);
  } catch (thrown) {
    const { errcode, errstr } = thrown as { errcode?: number; errstr?: string };
    if (errcode === undefined) throw thrown;
    return { errcode, words: errstr ?? '' };
  }
}

process.on('message', (question: Question) => process.send?.(answerTo(question)));
process.on('disconnect', () => process.exit());
