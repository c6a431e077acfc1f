// Many plans in a drop folder, pushed by the real process in a heap of 100 MB: how long that takes and how much
// memory; the same with the process killed at counted points on the way; and at the rate that the limiter allows.
// The ledger of the sandbox shows what the service accepted and how fast it was asked. Writes its section of
// docs/explanation/reliability.md. Run with: node test/prove/push-many.ts [plans] [plans at a limited rate]
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessCost } from '../support/measure/process-cost.ts';
import { giveSection } from '../support/proofs/reliability-page.ts';
import {
  HEAP_MB,
  type Kill,
  pushManyKilled,
  RUN,
  smallHeap,
  verdictOf,
  type Work,
  withMany,
} from '../support/push/push-many.ts';

const PLANS = Number(process.argv[2] ?? 10_000);
const LIMITED_PLANS = Number(process.argv[3] ?? 1_500);
/** The default of the configuration. */
const PER_MINUTE = 600;

const KILLS: readonly Kill[] = [
  { at: 37, where: 'while files are taken' },
  { at: 101, where: 'while files are taken' },
  { at: 2_001, where: 'while plans are sent' },
  { at: 7_002, where: 'while plans are sent' },
  { at: 12_003, where: 'while plans are sent' },
  { at: 500, step: 'request written', where: 'while a plan is on its way' },
  { at: 700, step: 'answer arrived', where: 'after an answer, before it is stored' },
  { at: 6, step: 'commit begins', where: 'before a commit' },
  { at: 8, step: 'commit done', where: 'after a commit' },
  { at: 9, step: 'rename begins', where: 'while results are written' },
  { at: 4, step: 'rename done', where: 'after a file was moved' },
];

interface Proof {
  line: string;
  isRight: boolean;
}

const inPlace = (plans: number, work: Work<Proof>, perMinute?: number): Promise<Proof> =>
  withMany(plans, { perMinute }, async (place, ledger) => {
    const proof = await work(place, ledger);
    process.stdout.write(`${proof.line}\n`);
    return proof;
  });

const secondsSince = (startedAt: number): number => (Date.now() - startedAt) / 1_000;

const atOnce = () =>
  inPlace(PLANS, async (place, ledger) => {
    const startedAt = Date.now();
    const cost = join(place.dir, 'cost');
    const { stdout } = await place.run(RUN, { NODE_OPTIONS: smallHeap('measure/process-cost.ts'), COST_FILE: cost });
    const { peakMb } = JSON.parse(readFileSync(cost, 'utf8')) as ProcessCost;
    const { status, confirmed } = JSON.parse(stdout);
    const { twice, lost } = verdictOf(ledger(), PLANS);
    const took = `${secondsSince(startedAt).toFixed(0)} s, ${peakMb} MB at most`;
    return {
      line: `| in one go | ${PLANS} | ${twice} | ${lost} | ${took} |`,
      isRight: status === 'ok' && confirmed === PLANS && twice + lost === 0,
    };
  });

const killed = async (): Promise<Proof> => {
  const startedAt = Date.now();
  const { arrived, twice, lost, open } = await pushManyKilled(PLANS, KILLS, (words) => process.stderr.write(words));
  const took = `${secondsSince(startedAt).toFixed(0)} s; killed with ${arrived.join(', ')} plans at the service`;
  const line = `| killed with -9 ${arrived.length} times | ${PLANS} | ${twice} | ${lost} | ${took} |`;
  process.stdout.write(`${line}\n`);
  return { line, isRight: arrived.length === KILLS.length && twice + lost + open === 0 };
};

const limited = () =>
  inPlace(
    LIMITED_PLANS,
    async (place, ledger) => {
      const startedAt = Date.now();
      await place.run(RUN);
      const { per_minute_max: most, requests } = ledger();
      const asked = Object.values(requests).reduce((sum, count) => sum + count, 0);
      const { twice, lost } = verdictOf(ledger(), LIMITED_PLANS);
      const rate = `${most} requests in its busiest minute`;
      const took = `${secondsSince(startedAt).toFixed(0)} s, ${asked} requests, ${rate}`;
      return {
        line: `| with \`requests_per_minute: ${PER_MINUTE}\` | ${LIMITED_PLANS} | ${twice} | ${lost} | ${took} |`,
        isRight: twice + lost === 0 && most <= PER_MINUTE && most >= PER_MINUTE * 0.95,
      };
    },
    PER_MINUTE,
  );

const proofs = [await atOnce(), await killed(), await limited()];

if (proofs.every(({ isRight }) => isRight))
  giveSection(
    'Many plans in a drop folder',
    `Files of 500 plans with ten stops each, pushed by the real process in a heap of ${HEAP_MB} MB. Killed, each process dies at
a counted point of its own: while files are taken, while plans are sent, before and after a commit, after an answer,
while results are written; the next one goes on. The ledger of the sandbox shows what the service accepted, and how often
it was asked in any 60 seconds.

| | plans | twice | lost | |
|---|---|---|---|---|
${proofs.map(({ line }) => line).join('\n')}

Made by \`node test/prove/push-many.ts ${PLANS} ${LIMITED_PLANS}\`; the times are those of 2 busy cores, and depend on what else
they do. A sample of the killed push runs with every \`npm run prove -- --quick\` (test/prove-quick/push-many.test.ts).
`,
    {
      run: 'many plans in a drop folder, in one go, killed on the way, and at the limited rate',
      many: `${2 * PLANS + LIMITED_PLANS} plans`,
      lost: '0 twice, 0 lost',
    },
  );
else process.exitCode = 1;
