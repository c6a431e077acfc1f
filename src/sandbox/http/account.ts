// The one account of the simulated company. All four parts must match; the password can be changed from
// outside, which is how a revoked password is played.

export interface Credentials {
  username: string;
  parent_username: string;
  password: string;
  realm: string;
}

export interface Account {
  readonly credentials: Credentials;
  matches(given: unknown): boolean;
  changePassword(password: string): void;
  /** No password is right until it is changed. */
  revokePassword(): void;
}

export const DEFAULT_CREDENTIALS: Credentials = {
  username: 'demo',
  parent_username: '00000000000000',
  password: 'demo',
  realm: 'demo',
};

export function createAccount(initial: Credentials): Account {
  const credentials = { ...initial };
  let isRevoked = false;
  return {
    credentials,
    matches: (given) =>
      !isRevoked &&
      typeof given === 'object' &&
      given !== null &&
      (Object.keys(credentials) as (keyof Credentials)[]).every(
        (name) => (given as Record<string, unknown>)[name] === credentials[name],
      ),
    changePassword(password) {
      credentials.password = password;
      isRevoked = false;
    },
    revokePassword() {
      isRevoked = true;
    },
  };
}
