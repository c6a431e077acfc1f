// Proves what an attacker who writes into fields, names and answers can do: nothing. Writes its section of
// docs/explanation/reliability.md. Run with: node test/prove/security.ts
import { execFileSync } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { stopPostgres } from '../support/databases/postgres.ts';
import { PICTURE_NAMES, sendNastyTexts, sendPictureNames } from '../support/fuzz/nasty-fields.ts';
import { NASTY_PUSHES, PUSHED_TEXTS, textsIn } from '../support/fuzz/nasty-pushes.ts';
import { openFuzzPlace } from '../support/fuzz/record-fuzz.ts';
import { commandNames } from '../support/process/every-command.ts';
import { giveSection } from '../support/proofs/reliability-page.ts';
import { runTestFiles } from '../support/proofs/test-files.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** Everything that is ever called: the service, the feeds of the ERP, the webhook. */
const REDIRECTED = [
  'test/scenario/fleet/fleet-faults.test.ts',
  'test/conformance/erp/erp-failures.test.ts',
  'test/scenario/status/alerts.test.ts',
];
const PUSHES = ['test/scenario/push/push-nasty-texts.test.ts'];
const CANARIES = ['test/prove-quick/canaries.test.ts', 'test/prove-quick/config-canaries.test.ts'];

async function texts(engine: 'sqlite' | 'postgres') {
  const place = await openFuzzPlace(engine);
  try {
    const counts = await sendNastyTexts(place);
    process.stdout.write(`${engine}: ${JSON.stringify(counts)}\n`);
    return counts;
  } finally {
    await place.close();
  }
}

async function pictures() {
  const place = await openFuzzPlace('sqlite');
  try {
    const files = await sendPictureNames(place, dirname(place.rig.dependencies.images));
    const outside = files.filter((file) => !/^images.[0-9a-f]{2}.[0-9a-f]{64}\.gif$/.test(file));
    process.stdout.write(`pictures: ${files.length} files, ${outside.length} outside\n`);
    return { files: files.length, outside: outside.length };
  } finally {
    await place.close();
  }
}

function expressions(): { expressions: number; dear: unknown[] } {
  const pumps = join(ROOT, 'test/support/fuzz/regex-pumps.ts');
  const text = execFileSync(process.execPath, [pumps, join(ROOT, 'src'), join(ROOT, 'jobs')]);
  process.stdout.write(`expressions: ${text}\n`);
  return JSON.parse(text.toString());
}

const inSqlite = await texts('sqlite');
const inPostgres = await texts('postgres');
await stopPostgres();
const stored = await pictures();
const checked = expressions();
const pushes = runTestFiles(PUSHES);
const redirects = runTestFiles(REDIRECTED, { named: 'redirect' });
const canaries = runTestFiles(CANARIES, { env: { EVERY_COMMAND: '1' } });
const csvWrong = inSqlite.csvWrong.length + inPostgres.csvWrong.length;
const parquetWrong = inSqlite.parquetWrong.length + inPostgres.parquetWrong.length;
const commands = await commandNames();
const formulas = inSqlite.formulas.length + inPostgres.formulas.length;
const quarantined = inSqlite.quarantined + inPostgres.quarantined;
const MARK = 'text';
const pushedFields = NASTY_PUSHES.flatMap(({ item }) => textsIn(item(MARK, 0))).filter(([, text]) =>
  text.startsWith(MARK),
).length;
const wrong =
  [...inSqlite.wrong, ...inPostgres.wrong, ...checked.dear].length +
  csvWrong +
  parquetWrong +
  formulas +
  quarantined +
  pushes.wrong +
  stored.outside +
  redirects.wrong +
  canaries.wrong;

if (wrong === 0)
  giveSection(
    'What an attacker can write',
    `| what | how many | wrong |
|---|---|---|
| SQL, formulas, HTML, paths and control characters in every text field of every kind, read back to the byte (SQLite) | ${inSqlite.texts} texts in ${inSqlite.fields} fields | ${inSqlite.wrong.length} |
| the same in PostgreSQL | ${inPostgres.texts} texts in ${inPostgres.fields} fields | ${inPostgres.wrong.length} |
| texts of the CSV export, each held to the warehouse to the byte, less one apostrophe before a formula | ${inSqlite.csvCells + inPostgres.csvCells} cells | ${csvWrong} |
| cells of it that a spreadsheet would take for a formula | the same | ${formulas} |
| texts of the Parquet export, read by DuckDB and held to the warehouse to the byte | ${inSqlite.parquetCells + inPostgres.parquetCells} values | ${parquetWrong} |
| records of these that ended in quarantine, though each fits | ${inSqlite.records + inPostgres.records} records | ${quarantined} |
| the same texts from the ERP to the service, in every text field of the four kinds, compared to the byte on arrival and as stored there | ${PUSHED_TEXTS.length} texts in ${pushedFields} fields, ${pushes.cases} cases | ${pushes.wrong} |
| names of pictures that lead out of the folder, to another host or to a device | ${PICTURE_NAMES.length} names, ${stored.files} files | ${stored.outside} |
| regular expressions that take more than linear time | ${checked.expressions} expressions | ${checked.dear.length} |
| redirects of the service, of a feed of the ERP and of the webhook | ${redirects.cases} cases | ${redirects.wrong} |
| secrets planted in a configuration, in records and in rejections, searched for in all output | ${commands.length} commands, ${canaries.cases} cases | ${canaries.wrong} |

- No call follows a redirect to another host, with or without the token: see the fault matrix above. A read of the
  service or of a feed of the ERP follows one to its own host, port and scheme; a write follows none, and the
  webhook of alerts follows none at all (${REDIRECTED.join(', ')}).
  No other address that the service sends is ever called: a picture is requested by its name, at the service's own address.
- A text of the ERP that no database keeps, with a NUL or half a character, is rejected in plain words and holds up nothing
  else (${PUSHES.join(', ')}).
- A regular expression is tried with texts that are made from itself: a text for the part before each repetition, one for
  the repeated part, and both again and again, for 16,000 characters, and up to 256,000 where that took time. Slow
  expressions that are planted are found
  (test/long/regular-expressions.test.ts).
- Every command that the program has was run at the most talkative log level, with \`--json\` and without: ${commands.length} commands.
  Passwords, tokens, keys and addresses that hold them were planted in the configuration; the service returned a password and
  tokens in invalid records and in rejections. None of them is in an output, in a page or metric of the daemon,
  in a message to the webhook, in a control table, or in any file afterwards: exports, results beside dropped files,
  a backup, the warehouse itself (${CANARIES.join(', ')}).
  A valid record is data: apart from the privacy policy it is kept and exported as the service sent it.

Made by \`node test/prove/security.ts\`. A sample of it runs with every \`npm test\` (test/scenario/warehouse/security.test.ts);
the pushes and the redirects run there whole. The canaries run with every \`npm run prove -- --quick\`, with a sample of the
commands (test/prove-quick/canaries.test.ts).
`,
    {
      run: 'dangerous texts in every field, in exports and in pushes, names of pictures, regular expressions, redirects, canaries',
      many: `${inSqlite.fields + inPostgres.fields + pushedFields} fields, ${PICTURE_NAMES.length} names, ${checked.expressions} expressions, ${pushes.cases + redirects.cases + canaries.cases} cases`,
      lost: `${wrong} wrong`,
    },
  );
else process.exitCode = 1;
