// The SQL expressions that differ between engines. A view is written once, with these. Arguments are SQL expressions too.
// Every expression is null if an argument is null.

export interface Dialect {
  /** The current instant, by the clock of the database. */
  readonly now: string;
  /** Whole seconds from one instant to another; negative if `to` is before `from`. */
  secondsBetween(from: string, to: string): string;
  addSeconds(at: string, seconds: string): string;
  /** Local time to the second; `offset` is the zone's offset in seconds. */
  localTime(at: string, offset: string): string;
  localDay(at: string, offset: string): string;
  localHour(at: string, offset: string): string;
  /** A sum of money without the error of adding floating-point numbers. */
  roundedToCents(amount: string): string;
}
