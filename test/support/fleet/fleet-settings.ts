// How the client of the service is set up for a sandbox.
import type { FleetSettings } from '../../../src/fleet/client.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';

export function fleetSettings({ url, credentials }: Sandbox, maxBodyMb = 64): FleetSettings {
  const { username, parent_username, password, realm } = credentials;
  return {
    baseUrl: url,
    username,
    parentUsername: parent_username,
    password,
    realm,
    renewal: 'auto',
    collections: 'json',
    timeoutMs: 60_000,
    maxBodyMb,
  };
}
