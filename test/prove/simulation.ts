// npm run prove: days or weeks of a daemon's life on a simulated clock, one life a seed, the first seed twice. Prints the
// figures and writes its section of docs/explanation/reliability.md.
//   node test/prove/simulation.ts [seeds] [days of bad weather] [first seed]
import { giveSection } from '../support/proofs/reliability-page.ts';
import { type SimulationReport, simulate } from '../support/simulation/simulation.ts';
import { isSound, mostFairLogins } from '../support/simulation/simulation-verdict.ts';

const [seeds = 2, days = 21, firstSeed = 1] = process.argv.slice(2).map(Number);
const FAIR_DAYS = 3;
/** A day or two before the clocks of the zone are set forward, and back. */
const CHANGES = ['2026-03-06T05:00:00.000Z', '2026-10-30T04:00:00.000Z'];
const ZONE = 'America/New_York';

const reports: SimulationReport[] = [];
let seconds = 0;
for (let n = 0; n < seeds + CHANGES.length; n++) {
  const begunMs = performance.now();
  const startAt = CHANGES[n - seeds];
  const clockChange = startAt === undefined ? undefined : { timezone: ZONE, startAt };
  const report = await simulate({ seed: firstSeed + n, days, fairDays: FAIR_DAYS, clockChange });
  seconds += (performance.now() - begunMs) / 1_000;
  reports.push(report);
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
const again = await simulate({ seed: firstSeed, days, fairDays: FAIR_DAYS });
const isSame = again.eventDigest === reports[0]?.eventDigest && again.contentDigest === reports[0]?.contentDigest;
if (!isSame) process.stdout.write(`seed ${firstSeed} gave another order of events: ${JSON.stringify(again)}\n`);
const isKept = (report: SimulationReport): boolean => isSound(report) && report.fairLogins <= mostFairLogins(FAIR_DAYS);
const failing = reports.filter((report) => !isKept(report)).map(({ seed }) => seed);
if (failing.length > 0) process.stdout.write(`seeds that failed: ${failing.join(', ')}\n`);

const row = (r: SimulationReport): string =>
  `| ${[r.seed, r.days, r.turns, r.completed, r.deaths, r.faults, r.compared, r.wrong.length, r.items, r.twice, r.lost, r.heldForReview, r.open, r.doubledTicks, r.clockSteps, r.fairLogins, r.eventDigest.slice(0, 8)].join(' | ')} |`;

const section = `The whole daemon (scheduler, leases, pulls, pushes, drop folders) and the sandbox live in one process on a clock that
the simulation moves. Every request, every transaction and every step on a file waits for its turn; the seed chooses
among those that wait, and only one is under way at a time. So the HTTP, the database and the files are real, and one
seed still gives one order of events: the digest of the event log of two runs is compared. Every six hours the weather
changes by the seed: a service that answers 429, 5xx, nothing, half or rubbish, before or after it has carried out the
request, and ends tokens early; a network that is down, slow, or loses requests and answers; deaths of the daemon at
any turn, before or after its request was carried out. ${FAIR_DAYS} fair days follow; then every row of vehicles, drivers, points of
interest, events, plans, points, executions, daily figures of vehicles, itineraries, checklists and answers is compared with
the sandbox's own state, and its ledger with the dropped items. A plan
that was sent five times without a clear answer, or that was answered as stored and that no listing shows, is left to a
person, as promised, and reported as held for review: at most one item in
twenty, or one, and by the ledger it is in the service at most once. In the last ${CHANGES.length} lives the zone is ${ZONE} and its
clocks are set forward or back in the first days; the clock of the machine is set as well, by up to two hours at a time, and
is up to an hour ahead of the service's or behind it. The days of that
zone are not the service's, so daily figures are left out there. In fair weather a login is allowed in each life of a refresh token,
which is a day: ${mostFairLogins(FAIR_DAYS)} in ${FAIR_DAYS} days.

| seed | days | turns | runs | deaths | answers spoiled | rows compared | tables wrong | items pushed | twice | lost | held for review | unresolved | ticks run twice | clock set | logins in fair weather | event log |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
${reports.map(row).join('\n')}

Seed ${firstSeed} twice: the same event log and the same content of the warehouse. ${Math.round(seconds)} s for ${reports.length * (days + FAIR_DAYS)} days.

Made by \`node test/prove/simulation.ts ${seeds} ${days} ${firstSeed}\`. A sample of it runs with every \`npm run prove -- --quick\`
(test/prove-quick/simulation.test.ts). The faults that its seeds found have tests of their own, which are quicker than those seeds:
an object in place of a list (test/unit/fleet/fleet-answers.test.ts), and a plan that is called gone only where the service says
so (test/scenario/pull/pull-gaps.test.ts).
`;

if (isSame && failing.length === 0)
  giveSection('Bad weather, one seed at a time', section, {
    run: 'the daemon simulated under mixed faults and deaths',
    many: `${reports.length} seeds, ${reports.length * days} days of bad weather and ${reports.length * FAIR_DAYS} fair ones`,
    lost: '0 rows wrong, 0 items twice or lost',
  });
else process.exitCode = 1;
