// The few things that the engines write differently in a query, as SQL fragments. A view is written once, with
// these; arguments are SQL fragments too. Every fragment gives null where an argument is null.

export interface Dialect {
  /** The present instant, by the clock of the database. */
  readonly now: string;
  /** Whole seconds from one instant to another; negative where the second lies before the first. */
  secondsBetween(from: string, to: string): string;
  /** The instant so many seconds later. */
  addSeconds(at: string, seconds: string): string;
  /** Wall-clock time to the second, of an instant and the offset of the zone in seconds. */
  localTime(at: string, offset: string): string;
  /** The local date. */
  localDay(at: string, offset: string): string;
  /** The local hour, 0 to 23. */
  localHour(at: string, offset: string): string;
}
