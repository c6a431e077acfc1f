// Proves that the client meets every fault of the sandbox as it should, on every call. Writes its section of
// docs/explanation/reliability.md. Run with: node test/prove/fault-matrix.ts
import { MATRIX, type MatrixRow, MOST_MB, type RowResult, runRows } from '../support/fleet/fault-matrix.ts';
import { giveSection } from '../support/proofs/reliability-page.ts';

/** Rows whose client is one process; a large one has a process of its own. */
const TOGETHER = 8;

const small = MATRIX.filter(({ large }) => !large);
const groups: MatrixRow[][] = MATRIX.filter(({ large }) => large).map((row) => [row]);
for (let at = 0; at < small.length; at += TOGETHER) groups.push(small.slice(at, at + TOGETHER));

const results: RowResult[] = [];
for (const group of groups) {
  for (const result of await runRows(group)) {
    results.push(result);
    process.stdout.write(`${result.name}: ${result.cells} calls, ${result.wrong.length} wrong, `);
    process.stdout.write(`${(result.longestMs / 1_000).toFixed(1)} s, ${result.peakMb} MB\n`);
    for (const words of result.wrong) process.stderr.write(`  ${words}\n`);
  }
}

const sum = (figure: (result: RowResult) => number): number => results.reduce((all, result) => all + figure(result), 0);
const cells = sum((result) => result.cells);
const wrong = sum((result) => result.wrong.length);
const peakMb = Math.max(...results.map((result) => result.peakMb));
const row = ({ name, cells, wrong, longestMs, peakMb }: RowResult): string =>
  `| ${name} | ${cells} | ${wrong.length} | ${(longestMs / 1_000).toFixed(1)} s | ${peakMb} MB |`;

if (wrong === 0 && peakMb <= MOST_MB)
  giveSection(
    'Every fault on every call',
    `The real client makes all 22 calls of the service over HTTP, each under each fault of the sandbox; a status, a
redirection, a wait and a silence also once the call was carried out. Every cell has to end as \`test/support/fleet/fault-matrix.ts\` says: which class of error, after how many
attempts by the sandbox's own count, within three times the time that the policy allows. No other host is ever called. A renewal that fails in
any way leaves the login, so the call succeeds. Memory is the peak of the client's own process: a body of 500 MB,
plain or compressed, is rejected at the cap of 64 MiB. A run of calls shares a process, so small rows show the peak so far.

| fault | calls | wrong | longest call | peak memory |
|---|---|---|---|---|
${results.map(row).join('\n')}

${cells} cells: ${wrong} wrong. Peak memory ${peakMb} MB. Tries for each read: 3; one exchange may take 1.5 s where a fault ends by time.

Made by \`node test/prove/fault-matrix.ts\`. A sample of it runs with every \`npm run prove -- --quick\` (test/prove-quick/fault-matrix.test.ts);
the pause that an answer asks for and the cap of a body are in test/scenario/fleet/fleet-faults.test.ts.
`,
    { run: 'every fault of the sandbox on every call', many: `${cells} cells`, lost: `${wrong} wrong` },
  );
else process.exitCode = 1;
