// Login and renewal. The API document does not show how a client presents a renewal, so that is an option: the access
// token as bearer, even if expired, or the refresh token as bearer or in the body.
import { isJsonObject } from '../../core/json.ts';
import type { SandboxDependencies } from '../dependencies.ts';
import { jsonAnswer, Rejection } from '../http/answer.ts';
import { type Call, type CallRequest, call } from '../http/call.ts';
import type { Renewal, Tokens } from '../http/tokens.ts';

export const sessionCalls: Call[] = [
  { ...call('login', 'POST', '/auth/login/', login), needsBearer: false },
  { ...call('renew', 'POST', '/auth/token/', renew), needsBearer: false },
];

const userOf = ({ account }: SandboxDependencies) => ({
  id: 1,
  name: 'Sandbox integration',
  login: account.credentials.username,
});

async function login(dependencies: SandboxDependencies, { body }: CallRequest) {
  const { account, tokens, ledger } = dependencies;
  if (!account.matches(body)) {
    ledger.session('logins_rejected');
    throw new Rejection(401, 'Unknown account or wrong password');
  }
  ledger.session('logins');
  return jsonAnswer({
    access_token: await tokens.issue('access'),
    refresh_token: await tokens.issue('refresh'),
    user: userOf(dependencies),
  });
}

async function renew(dependencies: SandboxDependencies, { bearer = '', body }: CallRequest) {
  const { tokens, ledger, settings } = dependencies;
  if (settings.renewal === 'none') throw new Rejection(404, 'No such path');
  const inBody = String(isJsonObject(body) ? body.refresh_token : '');
  if (!(await isRenewable(tokens, settings.renewal, bearer, inBody))) {
    ledger.session('renewals_rejected');
    throw new Rejection(401, 'The session cannot be renewed');
  }
  ledger.session('renewals');
  const access_token = await tokens.issue('access');
  const user = userOf(dependencies);
  if (!settings.rotateRefresh) return jsonAnswer({ access_token, user });
  for (const used of [bearer, inBody]) {
    if (await tokens.accepts('refresh', used)) tokens.revoke(used);
  }
  return jsonAnswer({ access_token, refresh_token: await tokens.issue('refresh'), user });
}

async function isRenewable(tokens: Tokens, renewal: Renewal, bearer: string, inBody: string): Promise<boolean> {
  const takes = (way: Renewal): boolean => renewal === way || renewal === 'any';
  if (takes('refresh-bearer') && (await tokens.accepts('refresh', bearer))) return true;
  if (takes('access-bearer') && (await tokens.acceptsForRenewal(bearer))) return true;
  return takes('body') && (await tokens.accepts('refresh', inBody));
}
