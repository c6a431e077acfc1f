// Findings of profiles, in words: no run of the benchmark finds these by itself.
export const PROFILE = `## Where the time goes
This section is written by hand, from profiles and runs of their own; no figure of it is of the run above.

A pull of 500,000 events into SQLite on a quiet machine of two cores takes 13 s on the clock and 16 to 18 s of CPU: the main
thread 6 to 7 (got and JSON.parse 2, the collection of garbage 1.6, check and mapping 1.5, the JSON of the batches and its
way to SQLite 0.9), SQLite 6.5, V8's own threads 4, which is garbage again.

Aims that are missed, each with the place of its figure above:
- 0.7 of parsing alone for SQLite, 0.7 of a bare COPY for PostgreSQL: the ratios under "Events, end to end".
- Three times the script: the same lines. Into SQLite a pull is about as fast as the script, into PostgreSQL slower.
- 120 MB at rest holds for a daemon whose page nobody has opened ("The daemon", idle RSS); the last two columns are beyond it.
  A visit adds about 13 MB, which stay: hono, the routes and the metrics are loaded with the first request. The first visit
  ever adds about 34 MB until the next start: node then loads its stripper of types (18 MB) and compiles these files.

What keeps the ratio to parsing below the aim, and the pull from being faster than the script:
- Storing is dearer than parsing: the bare statement alone, rows ready in memory, is slower than the aim. Of 8 microseconds
  of SQLite's thread for an event (100,000 in the order of their time; more where they come mixed), 3.2 unpack the JSON of
  the batch, 1.5 are the row with its key and 3.4 the three indexes. Without the indexes the queries of the cookbook would
  not answer in a second, so they stay.
- Two cores are shared by the service, the main thread, SQLite and the collection of garbage. The last takes a third of the
  CPU: records live until their slice is stored, so that a slice is stored as a whole or not at all.
- The script has no check, no quarantine, no coverage, no history and one index; it is as fast because it does less.

A pull of 500,000 events into PostgreSQL, the server's session sampled a hundred times a second: it works 60 % of the
time (COPY 40, key lookups 7, counting rows that may have vanished 4, the rest small statements and commits), waits for
the main thread in the middle of a transaction 20 %, and is without one the rest. A bare COPY works all the time. So the
aim of 0.7 wants a main thread that is never late, on a machine whose two cores also hold the service, the check of the
records and the collection of garbage. That is also why the script is faster here: it lets the server work in four
sessions at a time, while a pull loads in one transaction after the other, searches every key first, keeps three indexes
more and commits only whole slices. One round of statements for each slice instead of one for 4,000 rows took the
waiting from 24 % to that.

Memory of a pull of four million events into SQLite, sampled twice a second: after the first million the mean stays at
222 MB, however much is stored; of it 64 are node's own files, 71 the heap with the records of two slices, 21 the bodies
of answers, the rest SQLite and the libraries. The peak is the one moment in which both slices and the largest answers
are there before they are collected. A longer run has more such moments, so its peak is a little higher: 229 MB in the
second million, 231 in the fourth. With a heap that may grow by 70 % instead of 50 it was 232 and 245 MB.

Tried and left: rows held as JSON text instead of lists (no less garbage, more memory); values bound one by one instead of
one JSON text (four times the main thread's time); 8,000 or 16,000 rows a statement instead of 4,000 (300,000 events in 9.9
to 10.0 and 9.7 to 10.3 s, instead of 9.7 to 10.6); a young generation of 32 MB instead of 8 (9.8 s, but 281 MB instead of
219 to 234).
`;
