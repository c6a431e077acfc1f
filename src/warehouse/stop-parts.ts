// What the views of stops and plans share: the execution that counts, and what a stop's status means. The aliases
// are those of the queries: `point` is the stop, `done` its latest execution.

/** Identifier of the latest execution of a stop that the service still returns. */
export const latestExecution = (stopId: string): string => `(
    select last.id from route_point_execution as last
    where last.route_point_id = ${stopId} and last._missing_since is null
    order by last.return_date desc nulls last, last.id desc limit 1)`;

/** Neither the start nor the arrival of the route. The service sends codes or names. */
export const isCustomerStop = (point: string): string =>
  `(upper(coalesce(${point}.type, '')) not in ('PA', 'PARTIDA', 'CH', 'CHEGADA'))`;

/** The office recorded a manual outcome later, so its time is not the time of the visit. */
export const wasOnSite = (point: string): string => `coalesce(${point}.status, '') <> 'M'`;

/** Null where there is nothing to compare. */
export const isOnTime = (point: string, done: string): string =>
  `(case when ${wasOnSite(point)} then ${done}.return_date <= ${point}.time_scheduled end)`;

export const DONE = `('R', 'E', 'M')`;
