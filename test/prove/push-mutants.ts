// npm run prove: the rules of push that keep an item from being sent twice, each taken out of a copy of the project in
// turn. The tests of the promise have to fail on every copy. Gives its section of docs/explanation/reliability.md.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { giveSection } from '../support/proofs/reliability-page.ts';
import { runTestFiles } from '../support/proofs/test-files.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const COPIED = ['src', 'jobs', 'config', 'test', 'package.json', 'tsconfig.json', 'vitest.config.ts'];
const TESTS = ['test/scenario/push/push-promise.test.ts'];

interface Mutant {
  rule: string;
  /** File under src/sync/push, the code of the rule, and what takes its place. */
  changes: readonly (readonly [file: string, code: string, becomes: string])[];
}

const MUTANTS: readonly Mutant[] = [
  {
    rule: 'resend without read-back',
    changes: [
      ['outcome.ts', 'if (claimed.remote_id === null)', 'if (claimed.attempts === 0)'],
      [
        'read-back.ts',
        "state === 'ready' && remote_id !== null && kind.change !== undefined",
        "state === 'ready' || remote_id === 0",
      ],
    ],
  },
  {
    rule: 'adopt by code alone',
    changes: [['decide.ts', 'overlaps(period, own) && isOfDay(period)', 'overlaps(period, own) !== undefined']],
  },
  {
    rule: 'believe one listing',
    changes: [
      [
        'decide.ts',
        "if (entry.state === 'unknown') return absence(question);",
        "if (entry.state === 'unknown') return { is: 'absent' };",
      ],
    ],
  },
  {
    rule: 'believe any listing',
    changes: [
      ['decide.ts', 'if (needsProof(entry) && doubt !== undefined)', "if (needsProof(entry) && doubt === 'never')"],
    ],
  },
  {
    rule: 'wait no longer after a second unclear send',
    changes: [['decide.ts', '2 ** unclear_sends', '2 * Math.min(unclear_sends, 1)']],
  },
];

function copyWithout({ rule, changes }: Mutant): string {
  const folder = mkdtempSync(join(tmpdir(), 'roadbook-mutant-'));
  for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const [file, code, becomes] of changes) {
    const path = join(folder, 'src/sync/push', file);
    const text = readFileSync(path, 'utf8');
    if (text.split(code).length !== 2) throw new Error(`${rule}: ${file} does not hold the code of the rule once`);
    writeFileSync(path, text.replace(code, becomes));
  }
  return folder;
}

const rows = MUTANTS.map((mutant) => {
  const root = copyWithout(mutant);
  try {
    const { cases, wrong } = runTestFiles(TESTS, { root });
    process.stdout.write(`${mutant.rule}: ${wrong} of ${cases} cases fail\n`);
    return { rule: mutant.rule, cases, wrong };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

if (rows.some(({ wrong }) => wrong === 0)) process.exitCode = 1;
else
  giveSection(
    'Push without one of its rules',
    `Each rule that keeps an item from being sent twice is taken out of a copy of the project. The tests of the promise
(${TESTS.join(', ')}) have to fail on the copy.

| rule taken out | cases | of them fail |
|---|---|---|
${rows.map(({ rule, cases, wrong }) => `| ${rule} | ${cases} | ${wrong} |`).join('\n')}

Made by \`node test/prove/push-mutants.ts\`.`,
    {
      run: 'push without one of its rules',
      many: `${rows.length} rules taken out`,
      lost: `${rows.length} noticed`,
    },
  );
