// What profiles have shown, in words: no run of the benchmark finds this out by itself.
export const PROFILE = `## Where the time goes
A pull of 500,000 events into SQLite on a quiet machine of two cores takes 13 s on the clock and 16 to 18 s of CPU: the main
thread 6 to 7 (got and JSON.parse 2, the collection of garbage 1.6, check and mapping 1.5, the JSON of the batches and its
way to SQLite 0.9), SQLite 6.5, V8's own threads 4, which is garbage again.

What keeps the ratio to parsing below the aim of 0.5:
- Storing is dearer than parsing. The bare statement alone, rows ready in memory, reaches 0.37: 12 to 13 microseconds an
  event, against 5.6 for got and JSON.parse together. Of these, about 6 are the row with its key and 2 to 3 each of the three
  indexes. Without the indexes the queries of the cookbook would not answer in a second, so they stay.
- SQLite waits for the main thread between two statements. A slice of 20,000 events took 0.5 s to write, half of it such
  waits; there are fewer statements a load now.
- Two cores are shared by the service, the main thread, SQLite and the collection of garbage.

Tried and left: rows held as JSON text instead of lists (no less garbage, more memory), values bound one by one instead of
one JSON text (four times the main thread's time), fewer and larger batches (the event loop waits longer).

Memory: 2,010,000 events in one backfill took 244 MB at most, one arena for all threads, on a busy machine. The tables
above were made before that, with more statements a batch.

The script has no check, no quarantine, no coverage, no history and one index; it is as fast because it does less.
`;
