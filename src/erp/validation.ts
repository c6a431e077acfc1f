// Validation before sending: everything that is wrong with a thing at once, each reason with its path.
import { agentReasons } from './agent-rules.ts';
import type { FeedKind } from './feed-kinds.ts';
import { itineraryReasons } from './itinerary-rules.ts';
import { planReasons } from './plan-rules.ts';
import { pointOfInterestReasons } from './point-of-interest-rules.ts';
import type { ErpThing } from './source.ts';

type Rules = (thing: Pick<ErpThing, 'data' | 'options'>) => string[];

const RULES: Readonly<Record<FeedKind, Rules>> = {
  route_plans: ({ data, options }) => planReasons(data, options),
  points_of_interest: ({ data }) => pointOfInterestReasons(data),
  agents: ({ data }) => agentReasons(data),
  itineraries: ({ data }) => itineraryReasons(data),
};

/** Empty where the thing may be sent. */
export const validateThing = (kind: FeedKind, thing: Pick<ErpThing, 'data' | 'options'>): string[] =>
  RULES[kind](thing);
