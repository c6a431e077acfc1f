// Login and renewal. The API document does not show how a client presents a renewal, so that is an option: the access
// token as bearer, even if expired, or the refresh token as bearer or in the body.
import type { Account } from '../http/account.ts';
import { jsonAnswer, Rejection } from '../http/answer.ts';
import type { Call, CallRequest } from '../http/call.ts';
import type { Renewal, Tokens } from '../http/tokens.ts';
import type { LedgerRecorder } from '../ledger.ts';

export interface SessionDependencies {
  account: Account;
  tokens: Tokens;
  ledger: LedgerRecorder;
  renewal: Renewal;
  rotateRefresh: boolean;
}

export const sessionCalls = (dependencies: SessionDependencies): Call[] => [
  {
    name: 'login',
    method: 'POST',
    path: '/auth/login/',
    needsBearer: false,
    handle: (request) => login(dependencies, request),
  },
  {
    name: 'renew',
    method: 'POST',
    path: '/auth/token/',
    needsBearer: false,
    handle: (request) => renew(dependencies, request),
  },
];

const userOf = (account: Account) => ({
  id: 1,
  name: 'Sandbox integration',
  login: account.credentials.username,
});

async function login({ account, tokens, ledger }: SessionDependencies, { body }: CallRequest) {
  if (!account.matches(body)) {
    ledger.session('logins_refused');
    throw new Rejection(401, 'Unknown account or wrong password');
  }
  ledger.session('logins');
  return jsonAnswer({
    access_token: await tokens.issue('access'),
    refresh_token: await tokens.issue('refresh'),
    user: userOf(account),
  });
}

async function renew(dependencies: SessionDependencies, { bearer, body }: CallRequest) {
  const { account, tokens, ledger, renewal, rotateRefresh } = dependencies;
  if (renewal === 'none') throw new Rejection(404, 'No such path');
  const inBody = (body as { refresh_token?: unknown } | undefined)?.refresh_token;
  if (!(await isRenewable(tokens, renewal, bearer, inBody))) {
    ledger.session('renewals_refused');
    throw new Rejection(401, 'The session cannot be renewed');
  }
  ledger.session('renewals');
  const access_token = await tokens.issue('access');
  if (!rotateRefresh) return jsonAnswer({ access_token, user: userOf(account) });
  for (const used of [bearer, inBody]) {
    if (typeof used === 'string' && (await tokens.accepts('refresh', used))) tokens.revoke(used);
  }
  return jsonAnswer({ access_token, refresh_token: await tokens.issue('refresh'), user: userOf(account) });
}

async function isRenewable(
  tokens: Tokens,
  renewal: Renewal,
  bearer: string | undefined,
  inBody: unknown,
): Promise<boolean> {
  const takes = (way: Renewal): boolean => renewal === way || renewal === 'any';
  if (takes('refresh-bearer') && bearer !== undefined && (await tokens.accepts('refresh', bearer))) return true;
  if (takes('access-bearer') && bearer !== undefined && (await tokens.acceptsForRenewal(bearer))) return true;
  return takes('body') && typeof inBody === 'string' && (await tokens.accepts('refresh', inBody));
}
