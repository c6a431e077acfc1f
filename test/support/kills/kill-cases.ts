// The items of the kill sweep, and how the service answers meanwhile. Items are of tomorrow, by the real clock.
import type { FeedKind } from '../../../src/erp/feed-kinds.ts';
import type { Ledger, SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { QUICK } from '../process/workplace.ts';
import { type PushCase, pushCases } from '../push/push-cases.ts';

export interface KillCase extends Pick<PushCase, 'job' | 'create' | 'list'> {
  feed: FeedKind;
  ledger: keyof Pick<Ledger, 'plans' | 'points_of_interest' | 'agents' | 'itineraries'>;
  /** The n-th item, from 0. */
  item(n: number): object;
  /** The name by which the ledger counts it. */
  name(n: number): string;
}

export interface KillMode {
  name: string;
  sandbox(kind: KillCase): SandboxOptions;
  /** `settle` of the job, as in the configuration. */
  settle: string;
}

const codeOf = (n: number): string => `K${String(n).padStart(4, '0')}`;
const PLACE = { latitude: -23.5, longitude: -46.6 };
const tomorrow = (time: string): string =>
  `${new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)}T${time}:00Z`;

const ITEMS: Record<FeedKind, Pick<KillCase, 'item' | 'name'>> = {
  route_plans: {
    name: codeOf,
    item: (n) => ({
      external_code: codeOf(n),
      date_time_start: tomorrow('11:00'),
      date_time_end: tomorrow('20:00'),
      route_points: [{ name: 'Stop', ...PLACE, external_code: `${codeOf(n)}-1` }],
      options: { optimize: false, geocoding: false },
    }),
  },
  points_of_interest: {
    name: codeOf,
    item: (n) => ({ title: codeOf(n), ...PLACE, point_of_interest_category_id: 2 }),
  },
  // Without a code: the tax number itself is the name.
  agents: { name: cpfOf, item: (n) => ({ name: 'A. Person', cpf: cpfOf(n), is_deliveryman: true }) },
  itineraries: {
    name: codeOf,
    item: (n) => ({
      external_id: codeOf(n),
      description: 'Round',
      vehicle_id: 1,
      driver_id: 1,
      date_time_start_estimated: tomorrow('11:00'),
      date_time_end_estimated: tomorrow('20:00'),
    }),
  },
};

/** Right check digits, nobody's number. */
function cpfOf(n: number): string {
  const digits = [...String(900_000_000 + n)].map(Number);
  for (const length of [9, 10]) {
    const sum = digits.reduce((all, digit, i) => all + digit * (length + 1 - i), 0);
    digits.push(((sum * 10) % 11) % 10);
  }
  return digits.join('');
}

const caseOf = ({ job, kind, create, list, ledger }: PushCase): KillCase => ({
  job,
  feed: kind,
  create,
  list,
  ledger,
  ...ITEMS[kind],
});

const [plans, points, agents, itineraries] = pushCases as [PushCase, PushCase, PushCase, PushCase];

export const planCase: KillCase = caseOf(plans);
export const otherCases: readonly KillCase[] = [caseOf(points), caseOf(agents), caseOf(itineraries)];

const LATE_MS = 5_000;

export const killModes: readonly KillMode[] = [
  { name: 'readable at once', sandbox: () => ({}), settle: QUICK.settle },
  {
    // Longer than the next process takes to start: it cannot see the items of the last one.
    name: 'readable after a delay',
    sandbox: () => ({ importVisibleAfterMs: LATE_MS, createdVisibleAfterMs: LATE_MS }),
    settle: '6s',
  },
  {
    name: 'unreadable for a while',
    sandbox: ({ list }) => ({ faults: [{ call: list, fault: '400', rate: 0.5 }] }),
    settle: QUICK.settle,
  },
  {
    name: 'resets after commit',
    sandbox: ({ create }) => ({ faults: [{ call: create, fault: 'reset-after-commit', rate: 0.6 }] }),
    settle: QUICK.settle,
  },
];
