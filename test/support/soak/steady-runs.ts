// A real daemon that runs all its jobs in rounds, and reports the resources it holds after each. A run that leaks does so
// every time, so a few rounds show as much as hours of a soak.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadJobs } from '../../../src/app/app.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { planCase } from '../kills/kill-cases.ts';
import { configFor, makeWorkplace, type Workplace } from '../process/workplace.ts';
import { dropItem } from '../push/dropped-items.ts';
import type { Held } from './held-probe.ts';

const PROBE = join(import.meta.dirname, 'held-probe.ts');
const TOKEN = 'only-for-these-rounds';
/** Once a year: nothing is due while the rounds go on. */
const SELDOM = '0 0 1 1 *';
const PLANS = planCase;

export interface SteadyReport {
  rounds: Held[];
  /** Of the daemon; each runs once at the start and once a round. */
  jobs: number;
  /** Runs that ended, by how. */
  runs: Record<string, number>;
  accepted: number;
  exit: number | null;
}

export async function steadyRuns(rounds: number): Promise<SteadyReport> {
  const sandbox = await startSandbox({ vehicles: 3, churn: false });
  const names = (await loadJobs()).map(({ name }) => name);
  const place = makeWorkplace(configFor(sandbox.url, sectionsOf(names)));
  try {
    mkdirSync(join(place.dir, 'drop'));
    const daemon = place.start(['start', '--log-level', 'debug'], { NODE_OPTIONS: `--import=${PROBE}` });
    await daemon.printed(/^ +page +http.*\n/m);
    const page = /^ +page +(http.*)$/m.exec(daemon.stdout())?.[1] ?? '';
    // A job that has never run is caught up at the start.
    await daemon.printed(/"run finished"/, names.length);
    const held: Held[] = [];
    for (let round = 1; round <= rounds; round++) {
      dropItem(place, PLANS, round);
      await Promise.all(names.map((name) => runNow(page, name)));
      await daemon.printed(/"run finished"/, (round + 1) * names.length);
      daemon.kill('SIGUSR2');
      await daemon.printed(/^\{"held":.*\n/m, round);
      const line =
        daemon
          .stderr()
          .match(/^\{"held":.*$/gm)
          ?.at(-1) ?? '';
      held.push((JSON.parse(line) as { held: Held }).held);
    }
    daemon.kill('SIGTERM');
    const { code } = await daemon.ended;
    return {
      rounds: held,
      jobs: names.length,
      runs: await runsIn(place),
      accepted: Object.keys(sandbox.ledger().plans).length,
      exit: code,
    };
  } finally {
    place.remove();
    await sandbox.close();
  }
}

function sectionsOf(names: readonly string[]): string {
  const options = (name: string): string =>
    /^pull-(?:events|route-plans|daily-summaries|itineraries|checklists)$/.test(name) ? ', since: 1d' : '';
  return `erp: { route_plans: { source: files, folder: drop, settle: 0s } }
status: { port: 0, token: ${TOKEN} }
jobs:
${names.map((name) => `  ${name}: { schedule: "${SELDOM}"${options(name)} }`).join('\n')}
`;
}

async function runNow(page: string, job: string): Promise<void> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const answer = await fetch(`${page}/api/jobs/${job}/run`, { method: 'POST', headers });
  if (answer.status !== 202) throw new Error(`${job} answered ${answer.status}: ${await answer.text()}`);
}

async function runsIn(place: Workplace): Promise<Record<string, number>> {
  const rows = await place.query<{ status: string; n: number }>(
    'select status, count(*) as n from sync_run group by status',
  );
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
}
