// The barest load: only the statement counts, not the making of the rows and of their text.

import type { Task } from '../task.ts';
import { eventRows, postgresPair, SLICE_ROWS, sqlitePair } from './load-pairs.ts';

export async function bareSeconds({ engine, settings, rows: count }: Task): Promise<number> {
  const pair = await (engine === 'sqlite' ? sqlitePair() : postgresPair(settings.url ?? ''));
  let seconds = 0;
  for (let start = 0; start < count; start += SLICE_ROWS) {
    const send = pair.bare(eventRows(start, count));
    const begun = performance.now();
    await send();
    seconds += (performance.now() - begun) / 1_000;
  }
  await pair.close();
  return seconds;
}
