// The names under which `sync_coverage` keeps what was read, by what a job declares as its coverage. They are stored, and
// BI reads them: a name that changes is coverage lost.

/** What coverage is kept for: the account, each vehicle, or each vehicle and the drivers of each. */
export type CoverageBy = 'account' | 'vehicle' | 'driver';

/** The scope of a job that covers the account. */
export const ACCOUNT_SCOPE = 'all';

/** `%` stands for any vehicle. `group` keeps apart what other options read. */
export const vehicleScope = (id: number | '%', group?: string): string =>
  group === undefined ? `vehicle ${id}` : `vehicle ${id} ${group}`;

export const driverScope = (id: number | '%'): string => `drivers of vehicle ${id}`;

export interface CoverageScopes {
  /** Pattern of the scopes that count for freshness, `%` for any words. */
  counted: string;
  /** Pattern of the scope of one vehicle, `%` for its id; only where coverage is kept for each. */
  vehicle?: string;
  /** That of the drivers of one vehicle. */
  driver?: string;
}

export function coverageScopes(by: CoverageBy, group?: string): CoverageScopes {
  if (by === 'account') return { counted: group ?? '%' };
  const vehicles = { counted: group === undefined ? '%' : `%${group}`, vehicle: vehicleScope('%', group) };
  return by === 'vehicle' ? vehicles : { ...vehicles, driver: driverScope('%') };
}

/** As LIKE does it. */
export const isCounted = (scope: string, { counted }: CoverageScopes): boolean =>
  new RegExp(`^${counted.split('%').map(RegExp.escape).join('.*')}$`).test(scope);
