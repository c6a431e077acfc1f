// npm run prove: every kind of push meets every fault of the service, on the call that creates and on the read-back,
// and so do two codes of one agent; `npm run prove -- --quick` has each fault meet two of the kinds. Gives its section of
// docs/explanation/reliability.md.
import { giveSection } from '../support/proofs/reliability-page.ts';
import { runTestFiles } from '../support/proofs/test-files.ts';

const FILES = ['test/long/push/push-write-faults.test.ts', 'test/long/push/push-read-faults.test.ts'];

const { cases, wrong } = runTestFiles(FILES, { env: { EVERY_PUSH_FAULT: '1' } });
process.exitCode = wrong === 0 ? 0 : 1;
if (wrong === 0) {
  giveSection(
    'Every fault on every push',
    `Route plans, points of interest, agents and itineraries are pushed while the service answers the call that creates them, or
the read-back after a lost answer, with each of its faults but the one that only a login can meet. The ledger of the sandbox shows what was accepted: each
item once, or not at all where it was rejected, and the outbox says which. Two codes with one CPF meet the same faults,
one after the other, and become one agent.

| cases | wrong |
|---|---|
| ${cases} | ${wrong} |

Made by \`node test/prove/push-faults.ts\`. With every \`npm run prove -- --quick\` each fault meets two of the kinds, and those that strike
after the commit two codes of one agent (${FILES.join(', ')}).`,
    {
      run: 'every fault on every kind of push, and on two codes of one agent',
      many: `${cases} cases`,
      lost: `${wrong} wrong`,
    },
  );
}
