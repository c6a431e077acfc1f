import { SHARED, startServer } from './postgres.ts';
import { sharedServer } from './shared-server.ts';

export const { setup, teardown } = sharedServer(SHARED, startServer, ({ url }) => url);
