// The kinds of items that an ERP may push. Each kind has its own feed.

export const FEED_KINDS = ['route_plans', 'points_of_interest', 'agents', 'itineraries'] as const;
export type FeedKind = (typeof FEED_KINDS)[number];
