// Findings of profiles, in words: no run of the benchmark finds these by itself.
export const PROFILE = `## Where the time goes
This section is written by hand, from profiles and runs of their own; no figure of it is of the run above.

**SQLite.** A pull of 500,000 events on a quiet machine of two cores takes 9.5 s on the clock and 12.6 s of CPU: the main
thread 6.3 (got and JSON.parse 2.1, the collection of garbage 1.3, check and mapping 0.6, the JSON of the rows and its way to
SQLite 1.1, the start of the process 0.8), SQLite's thread 4.8, V8's own threads 3.2, which is garbage again. A transaction is
open in 9.1 of the 9.5 s: its load statements take 5.8, the commits 1.0, the indexes at the end 1.3, and the rest is waiting.
Every step of the driver ends in a turn of the event loop, and a main thread that parses an answer gives a turn after 10 to
40 ms.

**PostgreSQL.** A slice used to keep its rows as lists and as COPY lines until its transaction, and the collection of garbage
took 3.5 s of a pull of 500,000 events. Now it keeps one text for each call: 10.9 s of CPU instead of 14.0, and 13.9 instead
of 16.5 for the same events again. A first fill of 500,000 events that took 25.1 s on the clock (the script 19.6, the bare COPY 7.7,
parsing alone 3.2) left the main thread idle for about 12 s; 3.7 were the collection of garbage, 2.5 parsing, 1.5 the hashes of
rows. Of the server's time about half is COPY, 13 % the figures of days, 7 % the search for known keys (60 of 75 slices need it:
their keys overlap, and edges are read again), 3 % and 2 % the counts, 1.5 % the late index. The rest are about 18 statements for
each slice, each of which waits for a turn of a busy main thread. Longer texts for each turn of a COPY change nothing.

**SQLite's day figures.** A load that only inserts events adds their figures instead of counting its days again: of 500,000 events,
2.1 s of 11.4 were spent on the figures before.

**Export.** The process that writes the files and the one that reads a SQLite warehouse used to work in turns. Now the reader is
one batch ahead, and rows travel without the names of their columns: 306,000 events, written as \`event\` and as \`bi_event\`, took
11.6 s instead of 16.8, and 174 MB instead of 208. The rest is the writer of Parquet (dictionaries, bounds, compression), the
collection of garbage (a third of it), and the way between the two processes. Groups of 10,000 rows instead of 20,000, without the
places of their pages: 147 MB instead of 171 for a million events written twice, as fast, and files larger by a twentieth. The views
of deliveries and plans take longer to compute than to write: on PostgreSQL, of 108 s for 876,000 stops, 70 were the server's; on
SQLite a stop of \`bi_delivery\` takes 79 microseconds.

**Aims that are missed** are those of the ratios under "Events, end to end": 0.35 of parsing alone and three times the
script's second run for SQLite, one and a half times the script for PostgreSQL; 0.8 of a bare COPY; in most runs also
twice the script for SQLite, which the run of 7f2d53d0 reached; and those of growth:
at ten million events 230 MB and as much time an event as at one million. With the figures of days PostgreSQL is slower than the
script, which stores none. Of the dashboards on PostgreSQL, recipes 2, 3 and 8 find plans by key
under the \`random_page_cost\` of 1.1 that \`roadbook_bi\` has: 98, 113 and 224 ms, against 76, 81 and 199 by reading all plans. With
literal days instead of those of bi_calendar the planner still reads all plans. Recipe 12 spends half its time on SQLite on fetching
rows by the index of days, and half on grouping them. 20,000 invalid records take a little less than half a second
on a quiet machine (in the run of 7f2d53d0, on a busy one, 0.61 and 0.74 s): 0.13 s for their texts and digests, and on PostgreSQL 0.33 for a bare COPY of them, of which the index of keys is 0.1.
To find them invalid, with every reason, took another 0.5 to 0.6 s before the transaction, in turns of 2,000 records; more than half is
zod's, which no valid record meets.
- Two cores are shared by the service, the main thread, the database and the collection of garbage. The script has the same
  two cores, but no check, no quarantine, no coverage, no history and one index.
- Storing is dearer than parsing. Of about 9 microseconds of SQLite's thread for an event, 3 unpack the JSON of the batch;
  the row, its key and one index take the rest. One more index is created after a first fill.
- A row that this process knows to be stored is not sent again (decision 068); with the default schedule each event is read 37
  times. The memory for them has two million places of 8 bytes. With half a million, a pass over a million events drove out
  what the next one needed: "again" then took 63.4 s into PostgreSQL instead of 43.9, and 48 s of CPU instead of 36.7; into SQLite
  32.2 instead of 29.7, and 45 instead of 38. It costs 14 MB more.

**Memory** of a pull of four million events into SQLite, sampled twice a second: after the first million the mean stays at
222 MB, however much is stored; of it 64 are node's own files, 71 the heap with the records of two slices, 21 the bodies
of answers, the rest SQLite and the libraries. The peak is the one moment in which both slices and the largest answers
are there before they are collected. A visit to the page adds about 13 MB, which stay: hono, the routes and the metrics are
loaded with the first request. The first visit ever adds about 34 MB until the next start: node then loads its stripper of
types (18 MB) and compiles these files.

**Tried and left**
- Statements prepared once, and fewer steps in a transaction: the waiting is gone, but SQLite's thread then runs beside a
  busy main thread and takes a quarter more CPU (300,000 events in 6.7 to 7.3 s instead of 6.2 to 6.4).
- A turn of the event loop between parsing, mapping and encoding: 9.7 to 10.3 s instead of 9.5 to 9.7, and 260 MB instead of 245.
- One slice at a time (8.1 s instead of 6.6), three at a time (10.9 instead of 10.6).
- A young generation of 16 or 32 MB instead of 8 (no faster; 252 and 281 MB instead of 228); garbage collected by one thread
  (7.3 s of CPU instead of 7.8, but 306 MB).
- Rows held as JSON text instead of lists; values bound one by one instead of one JSON text (four times the main thread's
  time); 8,000 or 16,000 rows a statement instead of 4,000.
`;
