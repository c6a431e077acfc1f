// What an ERP may give to be pushed; each kind has a feed of its own.

export const FEED_KINDS = ['route_plans', 'points_of_interest', 'agents', 'itineraries'] as const;
export type FeedKind = (typeof FEED_KINDS)[number];
