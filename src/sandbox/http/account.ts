// The single account of the simulated company. All four fields must match. Tests can change the password, or revoke it.

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
  /** Rejects every password until `changePassword` is called. */
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
