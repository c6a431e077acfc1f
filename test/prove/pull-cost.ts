// npm run prove: the calls of each pull job when nothing is new, counted by the service itself, with a long history of
// finished plans in the warehouse. The cost has to follow the open plans, not the stored ones. Gives its section of
// docs/explanation/reliability.md.
//   node test/prove/pull-cost.ts 10000
import { loadJobs } from '../../src/app/app.ts';
import { giveSection } from '../support/proofs/reliability-page.ts';
import { makeRig, type Rig } from '../support/pull/rig.ts';

const finishedWanted = Number(process.argv[2] ?? 10_000);
const VEHICLES = 30;
/** Plans of the sandbox's vehicles on an average day. */
const PLANS_A_DAY = VEHICLES * 0.62;
const SETTLE_MS = 48 * 3_600_000;
const since = `${Math.ceil(finishedWanted / PLANS_A_DAY) + 10}d`;

const rig = await makeRig({
  startAt: '2026-03-10T12:00:00.000Z',
  sandbox: { vehicles: VEHICLES, churn: false },
});
const pulls = (await loadJobs()).filter(({ name }) => name.startsWith('pull-'));
const optionsOf = (job: string) => (job === 'pull-route-plans' ? { since } : {});
for (const { name } of pulls) await rig.run(name, optionsOf(name));

const plans = await rig.truth('route_plans', {
  from: '2018-01-01T00:00:00.000Z',
  to: new Date(rig.clock.now()).toISOString(),
});
const open = plans.filter(({ status, date_time_end }) => !isFinished(String(status), String(date_time_end)));
const [{ stored } = {}] = await rig.rows('select count(*) as stored from route_plan');
let calledFor = 0;
const lines = ['| job | calls | records read | rows rewritten |', '|---|---|---|---|'];

const faults: string[] = [];
for (const { name, tables } of pulls) {
  const before = requests(rig);
  const { records, run_id } = await rig.run(name, optionsOf(name));
  const calls = Object.entries(requests(rig))
    .map(([call, count]) => ({ call, count: count - (before[call] ?? 0) }))
    .filter(({ call, count }) => count > 0 && call !== 'login' && call !== 'renew');
  const rewritten = await Promise.all(
    tables
      .filter(({ kind }) => kind === 'base')
      .map((table) => rig.rows(`select 1 from "${table.name}" where _run_id = '${run_id}'`)),
  );
  const listed = calls.map(({ call, count }) => `${call} ${count}`).join(', ');
  calledFor += calls.reduce((sum, { count }) => sum + count, 0);
  lines.push(`| \`${name}\` | ${listed} | ${records} | ${rewritten.flat().length} |`);
  if (rewritten.flat().length > 0) faults.push(`${name} rewrote rows`);
  const details = calls.find(({ call }) => call === 'route-plan')?.count ?? 0;
  if (name === 'pull-route-plans' && details !== open.length) faults.push(`${details} plans were asked for`);
}
if (Number(stored) - open.length < finishedWanted) faults.push('too few finished plans');
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
const body = `${stored} plans are stored, ${open.length} of them may still change. Every pull job runs once more, with nothing new; the
service itself counts the calls.

${lines.join('\n')}

Made by \`node test/prove/pull-cost.ts ${finishedWanted}\`.`;
process.stdout.write(`${body}\n`);
if (faults.length === 0)
  giveSection('The cost of finding nothing new', body, {
    run: 'every pull job with a long history and nothing new',
    many: `${stored} stored plans, ${open.length} open, ${calledFor} calls`,
    lost: '0 rows rewritten, no finished plan requested',
  });
await rig.close();

function requests({ sandbox }: Rig): Record<string, number> {
  return { ...(sandbox.ledger().requests as Record<string, number>) };
}

function isFinished(status: string, endedAt: string): boolean {
  return ['C', 'I'].includes(status) && Date.parse(endedAt) < rig.clock.now() - SETTLE_MS;
}
