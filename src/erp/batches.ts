// Packs what was read into batches of bounded size, and holds each code to one thing a read: a code that comes
// again withdraws the thing, since nobody could tell which of the two is meant, or whether one is half a plan.
import type { ErpBatch } from './source.ts';
import type { Reading } from './things.ts';

/** Things and faults a batch. */
const BATCH_SIZE = 500;

export async function* inBatches(
  name: string,
  readings: AsyncIterable<Reading> | Iterable<Reading>,
): AsyncIterable<ErpBatch> {
  const origins = new Map<string, string>();
  let batch = emptyBatch(name, 1);
  for await (const reading of readings) {
    if (batch.things.length + batch.faults.length >= BATCH_SIZE) {
      yield batch;
      batch = emptyBatch(name, batch.part + 1);
    }
    add(batch, reading, origins);
  }
  yield { ...batch, last: true };
}

const emptyBatch = (name: string, part: number): ErpBatch => ({
  name,
  part,
  last: false,
  things: [],
  faults: [],
});

function add(batch: ErpBatch, reading: Reading, origins: Map<string, string>): void {
  if ('fault' in reading) {
    const { externalCode, origin } = reading.fault;
    batch.faults.push(reading.fault);
    if (externalCode === undefined) return;
    withdraw(batch, externalCode);
    if (!origins.has(externalCode)) origins.set(externalCode, origin);
    return;
  }
  const { externalCode, origin } = reading.thing;
  const first = origins.get(externalCode);
  if (first === undefined) {
    origins.set(externalCode, origin);
    batch.things.push(reading.thing);
    return;
  }
  withdraw(batch, externalCode);
  const reason = `this external code was read before, at ${first}; keep the rows of a plan together (order them by its code) and give each code once`;
  batch.faults.push({ origin, externalCode, reason });
}

function withdraw(batch: ErpBatch, externalCode: string): void {
  batch.things = batch.things.filter((thing) => thing.externalCode !== externalCode);
}
