// Proves that nothing the service, an ERP or a person writes is lost or brings anything down. Writes its section of
// docs/explanation/reliability.md. Run with:
//   node test/prove/fuzz.ts [records in SQLite] [in PostgreSQL] [files] [edits] [seed] [records of each table compared]
import fc from 'fast-check';
import { configDeclarations, loadJobs } from '../../src/app/app.ts';
import { stopPostgres } from '../support/databases/postgres.ts';
import { type Compared, compareWays, recordForms } from '../support/fuzz/compiled-tables.ts';
import { editedConfigs, tryConfig } from '../support/fuzz/config-fuzz.ts';
import { fuzzedFiles, tryFile } from '../support/fuzz/erp-fuzz.ts';
import { type FuzzCounts, fuzzRecords, openFuzzPlace } from '../support/fuzz/record-fuzz.ts';
import { giveSection } from '../support/proofs/reliability-page.ts';

const [inSqlite = 100_000, inPostgres = 10_000, files = 2_000, edits = 5_000, seed = 1, compared = 100_000] =
  process.argv.slice(2).map(Number);
/** Most that one edit of the configuration may take of the processor. */
const MOST_EDIT_MS = 1_000;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

async function records(engine: 'sqlite' | 'postgres', many: number): Promise<FuzzCounts> {
  const place = await openFuzzPlace(engine);
  try {
    const counts = await fuzzRecords(place, many, seed);
    print(`${engine}: ${JSON.stringify(counts)}`);
    return counts;
  } finally {
    await place.close();
  }
}

async function bothWays() {
  const forms = await recordForms();
  const counts = forms.map((form) => compareWays(form, compared, seed));
  const sum = (of: keyof Compared) => counts.reduce((total, each) => total + each[of], 0);
  const all = { records: sum('records'), compiled: sum('compiled') };
  print(`compared: ${JSON.stringify(all)}`);
  return all;
}

async function dropped() {
  const counts = { plans: 0, readErrors: 0 };
  const check = fc.asyncProperty(fuzzedFiles, async (file) => {
    const { plans, readErrors } = await tryFile(file);
    counts.plans += plans;
    counts.readErrors += readErrors;
  });
  await fc.assert(check, { numRuns: files, seed });
  print(`files: ${JSON.stringify(counts)}`);
  return counts;
}

async function edited() {
  const declarations = configDeclarations(await loadJobs());
  const counts = { accepted: 0, rejected: 0, longestMs: 0 };
  const check = fc.property(editedConfigs, (text) => {
    const before = process.cpuUsage();
    counts[tryConfig(text, declarations)] += 1;
    const { user, system } = process.cpuUsage(before);
    counts.longestMs = Math.max(counts.longestMs, (user + system) / 1_000);
  });
  fc.assert(check, { numRuns: edits, seed });
  print(`edits: ${JSON.stringify(counts)}`);
  return counts;
}

const sqlite = await records('sqlite', inSqlite);
const postgres = await records('postgres', inPostgres);
await stopPostgres();
const ways = await bothWays();
const fromFiles = await dropped();
const config = await edited();

const row = (name: string, { sent, loaded, quarantined }: FuzzCounts): string =>
  `| ${name} | ${sent} | ${loaded} | ${quarantined} | ${sent - loaded - quarantined} |`;

const lost = [sqlite, postgres].reduce((sum, { sent, loaded, quarantined }) => sum + sent - loaded - quarantined, 0);

if (lost === 0 && config.longestMs <= MOST_EDIT_MS)
  giveSection(
    'Any record, file or configuration',
    `Records of every kind with valid values, other forms and invalid values in every column, unknown fields, prototypes, SQL,
formulas, NUL, lone surrogates and numbers beyond 2^53 and beyond any double, sent over HTTP to the real jobs. Each carries
a number. SQL then finds every number exactly once, in a row or in \`sync_quarantine\`, and each row with its \`extra\` gives
its record back, whole numbers to the last digit; a payload in quarantine is the record to the letter. (SQLite reads decimals below 1e-20 and above 1e20 to all digits but the last.)

| warehouse | records sent | loaded | quarantined | lost |
|---|---|---|---|---|
${row('SQLite', sqlite)}
${row('PostgreSQL', postgres)}

- ${ways.records} further records, ${compared} of each table, went both ways to their row: ${ways.compiled} of them through the compiled
  function of their table, and each of these rows equals that of the wire schema and the generic mapping.
- Files of an ERP (JSON, CSV, XLSX; whole, cut, bytes changed, other encodings, anything): ${files} files gave
  ${fromFiles.plans} plans and ${fromFiles.readErrors} clear errors. Each file ended in \`done/\` or \`failed/\` with its own bytes and a result.
- Edits of \`config/roadbook.yaml\`: ${edits}, of which ${config.accepted} were accepted and ${config.rejected} rejected with file, line and
  column of every error. The slowest took ${config.longestMs.toFixed(0)} ms of the processor.

Made by \`node test/prove/fuzz.ts ${inSqlite} ${inPostgres} ${files} ${edits} ${seed} ${compared}\`. A sample of it runs with every \`npm run prove -- --quick\` (test/prove-quick/fuzz.test.ts,
test/unit/pull/compiled-tables.test.ts).
`,
    {
      run: 'fuzzed records, ERP files and configurations',
      many: `${sqlite.sent + postgres.sent} records, ${files} files, ${edits} edits`,
      lost: `${lost} lost`,
    },
  );
else process.exitCode = 1;
