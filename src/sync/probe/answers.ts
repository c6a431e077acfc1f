// The answers of probes: what is asked, what is known, and which answers have changed since a person last saw them. A
// change is kept until `doctor --probe` has shown it, the service answers as before, or the question is no longer asked.
import { isoInstant } from '../../core/time/clock.ts';
import { factMemory, readFact } from '../../warehouse/control/learned-facts.ts';
import type { Engine } from '../../warehouse/engine.ts';

/** The questions, in the order of the report. */
export const QUESTIONS = {
  plan_search: 'a search of plans by period finds them by',
  plan_period_ends: 'ends of the period that belong to a search of plans',
  plan_listing: 'a listing of plans is cut off at',
  event_search: 'a search of events by period finds them by',
  event_period_ends: 'ends of the period that belong to a search of events',
  event_listing: 'a listing of events is cut off at',
  vehicle_ids: 'vehicles in one event query',
  vehicle_listing: 'the listing of vehicles is cut off at',
  agent_listing: 'the listing of agents is cut off at',
  driver_listing: 'the listing of drivers is cut off at',
  point_of_interest_listing: 'the listing of points of interest is cut off at',
  renewal: 'a token is renewed by',
  import_delay: 'a plan is listed after its import within',
} as const;

export type Question = keyof typeof QUESTIONS;

const PLAN_JOBS = ['pull-route-plans', 'push-route-plans'];
const EVENT_JOBS = ['pull-events'];

/** A question is asked if one of these jobs is enabled. */
const JOBS_OF: Readonly<Record<Question, readonly string[] | 'all'>> = {
  plan_search: PLAN_JOBS,
  plan_period_ends: PLAN_JOBS,
  plan_listing: PLAN_JOBS,
  event_search: EVENT_JOBS,
  event_period_ends: EVENT_JOBS,
  event_listing: EVENT_JOBS,
  vehicle_ids: EVENT_JOBS,
  vehicle_listing: ['pull-vehicles'],
  agent_listing: ['pull-drivers', 'push-agents'],
  driver_listing: ['pull-drivers'],
  point_of_interest_listing: ['pull-points-of-interest', 'push-points-of-interest'],
  renewal: 'all',
  import_delay: ['push-route-plans'],
};

export const isAsked = (question: Question, isEnabled: (job: string) => boolean): boolean => {
  const jobs = JOBS_OF[question];
  return jobs === 'all' || jobs.some(isEnabled);
};

/** An answer in one or few words, null if nothing shows it; and what it is based on, or why there is none. */
export type Answer = readonly [answer: string | null, evidence: string];

export interface ProbeAnswer {
  question: Question;
  answer: string | null;
  evidence: string;
  /** The earlier answer, if it was another one. */
  was?: string;
  /** The stored answer, if nothing shows one this time. */
  stored?: KnownAnswer;
}

export interface KnownAnswer {
  answer: string;
  /** When it was found. */
  at: string;
}

export interface ProbeChange {
  question: Question;
  was: string;
  answer: string;
  /** When the new answer was found. */
  at: string;
}

interface StoredProbe {
  answers: Partial<Record<Question, KnownAnswer>>;
  changes?: ProbeChange[];
}

const FACT = 'service probe';

const probeMemory = (engine: Engine) => factMemory<StoredProbe>(engine, FACT);

/** The answer if a limit was not reached. */
export const atLeast = (n: number): string => `at least ${n}`;
export const isOpen = (answer: string): boolean => answer.startsWith('at least ');
const numberIn = (answer: string): number => Number(/\d+/.exec(answer)?.[0]);

/**
 * Only answers that contradict each other are a change: a bound allows every limit above it. The delay of imports is a
 * figure of the last weeks, which differs from night to night.
 */
export function isChange(question: Question, was: string, answer: string): boolean {
  if (question === 'import_delay' || answer === was) return false;
  if (isOpen(was)) return !isOpen(answer) && numberIn(answer) < numberIn(was);
  return !isOpen(answer) || numberIn(answer) > numberIn(was);
}

/** The answer allows more than the known one does. */
const isVaguer = (answer: string, known: string): boolean =>
  isOpen(answer) && (!isOpen(known) || numberIn(answer) < numberIn(known));

/**
 * Stores the answers and returns them with the earlier ones. An answer that is not known this time replaces nothing.
 * `isSeen`: a person sees the answers, so the changed ones become the known ones.
 */
export async function storeAnswers(
  engine: Engine,
  answers: readonly ProbeAnswer[],
  { nowMs, isSeen }: { nowMs: number; isSeen: boolean },
): Promise<ProbeAnswer[]> {
  const at = isoInstant(nowMs);
  let compared: ProbeAnswer[] = [];
  await probeMemory(engine).update(async (before) => {
    const known = { ...before?.answers };
    const asked = new Set(answers.map(({ question }) => question));
    const kept = before?.changes?.filter(({ question }) => asked.has(question));
    const changes = new Map(kept?.map((change) => [change.question, change]));
    compared = answers.map((each) => {
      const { question, answer } = each;
      const stored = known[question];
      const was = stored?.answer;
      if (answer === null) return was === undefined ? each : { ...each, stored };
      const isChanged = was !== undefined && isChange(question, was, answer);
      if (isChanged && !isSeen) {
        if (changes.get(question)?.answer !== answer) changes.set(question, { question, was, answer, at });
      } else {
        changes.delete(question);
        if (was === undefined || isChanged || !isVaguer(answer, was)) known[question] = { answer, at };
      }
      return isChanged ? { ...each, was } : each;
    });
    return { answers: known, changes: [...changes.values()] };
  }, nowMs);
  return compared;
}

/** The changes that no person has seen in a report yet. */
export const changedAnswers = async (engine: Engine): Promise<ProbeChange[]> =>
  (await probeMemory(engine).read())?.changes ?? [];

/** What the last probe that found an answer to a question found. */
export async function newestAnswers(engine: Pick<Engine, 'read'>): Promise<(KnownAnswer & { question: Question })[]> {
  const { answers = {}, changes = [] } = (await readFact<StoredProbe>(engine, FACT)) ?? {};
  const known = (Object.keys(QUESTIONS) as Question[]).map(
    (question) => changes.find((each) => each.question === question) ?? { question, ...answers[question] },
  );
  return known.flatMap(({ question, answer, at }) => (answer && at ? [{ question, answer, at }] : []));
}

/** The limit that was found last; infinite if none was, or one of 0, which earlier releases took an empty answer for. */
export async function knownLimit(engine: Pick<Engine, 'read'>, asked: Question): Promise<number> {
  const { answer } = (await newestAnswers(engine)).find(({ question }) => question === asked) ?? {};
  return answer === undefined || isOpen(answer) ? Infinity : numberIn(answer) || Infinity;
}
