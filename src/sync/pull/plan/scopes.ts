// The scope names in `sync_coverage`, for each kind of coverage that a job declares. They are stored, and BI tools read
// them: if a name changes, its coverage is lost.

/** Coverage is kept for the account, for each vehicle, or for each vehicle and its drivers. */
export type CoverageBy = 'account' | 'vehicle' | 'driver';

/** The scope of a job that covers the account. */
export const ACCOUNT_SCOPE = 'all';

/** `%` stands for any vehicle. `group` separates coverage that was read with other options. */
export const vehicleScope = (id: number | '%', group?: string): string =>
  group === undefined ? `vehicle ${id}` : `vehicle ${id} ${group}`;

export const driverScope = (id: number | '%'): string => `drivers of vehicle ${id}`;

export interface CoverageScopes {
  /** Pattern of the scopes that count for freshness, `%` for any text. */
  counted: string;
  /** Pattern of the scope of one vehicle, `%` for its id; absent if coverage is not kept for each vehicle. */
  vehicle?: string;
  /** Pattern of the scope of one vehicle's drivers. */
  driver?: string;
}

export function coverageScopes(by: CoverageBy, group?: string): CoverageScopes {
  if (by === 'account') return { counted: group ?? '%' };
  const vehicles = { counted: group === undefined ? '%' : `%${group}`, vehicle: vehicleScope('%', group) };
  return by === 'vehicle' ? vehicles : { ...vehicles, driver: driverScope('%') };
}

/** Matches like SQL's LIKE. */
export const isCounted = (scope: string, { counted }: CoverageScopes): boolean =>
  new RegExp(`^${counted.split('%').map(RegExp.escape).join('.*')}$`).test(scope);
