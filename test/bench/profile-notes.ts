// What profiles have shown, in words: no run of the benchmark finds this out by itself.
export const PROFILE = `## Where the time goes
CPU seconds of a pull of 500,000 events into SQLite, by thread (the kernel's counters, a CPU profile): main about 5, of which
got and JSON.parse are about half, check and mapping a fifth, the collection of garbage most of the rest; SQLite about 4,
more than half of it to unpack the JSON of a batch, the rest for the table and its three indexes; V8's own threads about 3.
Main and SQLite overlap, and the service takes its part of the same cores. Where other work shares them, the ratio falls
towards the ratio of the CPU seconds.
`;
