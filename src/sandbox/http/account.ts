// The single account of the simulated company. All four fields must match. Tests can change the password, or revoke it.
import { isJsonObject } from '../../core/glossary.ts';

export interface Credentials {
  username: string;
  parent_username: string;
  password: string;
  realm: string;
}

export const DEFAULT_CREDENTIALS: Credentials = {
  username: 'demo',
  parent_username: '00000000000000',
  password: 'demo',
  realm: 'demo',
};

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
