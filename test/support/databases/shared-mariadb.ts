import { SHARED_MARIADB, startMariadb } from './mariadb.ts';
import { sharedServer } from './shared-server.ts';

export const { setup, teardown } = sharedServer(SHARED_MARIADB, startMariadb, ({ port }) => String(port));
