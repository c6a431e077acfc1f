// The single account of the simulated company. All four fields must match. Tests can change the password, or revoke it.
import { isJsonObject } from '../../core/json.ts';

export const DEFAULT_CREDENTIALS = {
  username: 'demo',
  parent_username: '00000000000000',
  password: 'demo',
  realm: 'demo',
};

export type Credentials = typeof DEFAULT_CREDENTIALS;

export function createAccount(initial: Credentials) {
  const credentials = { ...initial };
  let isRevoked = false;
  return {
    credentials,
    matches: (given: unknown): boolean =>
      !isRevoked && isJsonObject(given) && Object.entries(credentials).every(([name, value]) => given[name] === value),
    changePassword(password: string): void {
      credentials.password = password;
      isRevoked = false;
    },
    /** Rejects every password until `changePassword` is called. */
    revokePassword(): void {
      isRevoked = true;
    },
  };
}
