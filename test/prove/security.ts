// Proves what an attacker who writes into fields, names and answers can do: nothing. Writes its section of
// docs/reliability.md. Run with: node test/prove/security.ts
import { execFileSync } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { PICTURE_NAMES, sendNastyTexts, sendPictureNames } from '../support/nasty-fields.ts';
import { stopPostgres } from '../support/postgres.ts';
import { openFuzzPlace } from '../support/record-fuzz.ts';
import { giveSection } from '../support/reliability-page.ts';

const ROOT = resolve(import.meta.dirname, '../..');

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
    const files = await sendPictureNames(place, dirname(place.rig.parts.images));
    const outside = files.filter((file) => !/^images.[0-9a-f]{2}.[0-9a-f]{64}\.gif$/.test(file));
    process.stdout.write(`pictures: ${files.length} files, ${outside.length} outside\n`);
    return { files: files.length, outside: outside.length };
  } finally {
    await place.close();
  }
}

function expressions(): { expressions: number; dear: unknown[] } {
  const pumps = join(ROOT, 'test/support/regex-pumps.ts');
  const text = execFileSync(process.execPath, [pumps, join(ROOT, 'src'), join(ROOT, 'jobs')]);
  process.stdout.write(`expressions: ${text}\n`);
  return JSON.parse(text.toString());
}

const inSqlite = await texts('sqlite');
const inPostgres = await texts('postgres');
await stopPostgres();
const stored = await pictures();
const checked = expressions();
const formulas = inSqlite.formulas.length + inPostgres.formulas.length;
const quarantined = inSqlite.quarantined + inPostgres.quarantined;
const wrong =
  [...inSqlite.wrong, ...inPostgres.wrong, ...checked.dear].length + formulas + quarantined + stored.outside;

giveSection(
  'What an attacker can write',
  `| what | how many | wrong |
|---|---|---|
| SQL, formulas, HTML, paths and control characters in every text field of every kind, read back to the byte (SQLite) | ${inSqlite.texts} texts in ${inSqlite.fields} fields | ${inSqlite.wrong.length} |
| the same in PostgreSQL | ${inPostgres.texts} texts in ${inPostgres.fields} fields | ${inPostgres.wrong.length} |
| cells of the CSV export that a spreadsheet would take for a formula | ${inSqlite.cells + inPostgres.cells} cells | ${formulas} |
| records of these that ended in quarantine, though each fits | ${inSqlite.records + inPostgres.records} records | ${quarantined} |
| names of pictures that lead out of the folder, to another host or to a device | ${PICTURE_NAMES.length} names, ${stored.files} files | ${stored.outside} |
| regular expressions that take more than linear time | ${checked.expressions} expressions | ${checked.dear.length} |

- A redirect to another host is followed by no call, with or without the token: see the fault matrix above. The feeds of
  the ERP and the webhook of alerts follow none either. No address that the service sends is ever called: a picture is
  asked for by its name, at the service's own address.
- Passwords, tokens, keys and addresses that hold them are in no output of any command, log level, page or metric:
  test/scenario/canaries.test.ts, and test/scenario/config-canaries.test.ts for one of each kind that a configuration may hold.

Made by \`node test/prove/security.ts\`. A sample of it runs with every \`npm test\` (test/scenario/security.test.ts).
`,
  {
    run: 'dangerous texts in every field, names of pictures, regular expressions',
    many: `${inSqlite.fields + inPostgres.fields} fields, ${PICTURE_NAMES.length} names, ${checked.expressions} expressions`,
    lost: `${wrong} wrong`,
  },
);
process.exitCode = wrong === 0 ? 0 : 1;
