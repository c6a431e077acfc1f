// The routes of the status server, loaded with the first request: they and what they need of node take a sixth of a
// second and 40 MB, and a daemon is to be at work before somebody looks at it. What has to be known from the start is
// taken here.
import { isoInstant } from '../../core/time/clock.ts';
import { configState } from '../../warehouse/control/config-state.ts';
import { createRowCounts } from '../../warehouse/queries/row-counts.ts';
import { type StatusFacts, statusFacts } from '../health/status-document.ts';
import type { StatusServerDependencies } from './dependencies.ts';
import type { StatusApp } from './status-app.ts';

export function lazyStatusApp(dependencies: StatusServerDependencies, host: string): StatusApp {
  const readFacts = factsOf(dependencies);
  const beganAt = isoInstant(dependencies.clock.now());
  let opened: Promise<StatusApp> | undefined;
  // Large tables are counted before somebody waits for it; a failure is met by the first who asks.
  // Not as a flight: who asks meanwhile must not get the state of the start.
  readFacts().catch(() => undefined);

  const open = async (): Promise<StatusApp> => {
    const { createStatusApp } = await import('./status-app.ts');
    return createStatusApp({ ...dependencies, host, beganAt, readFacts });
  };

  return {
    async answer(request, response) {
      try {
        opened ??= open();
        const app = await opened;
        // Who asked may be gone by now, and would not be seen to go.
        if (!response.destroyed) app.answer(request, response);
      } catch (thrown) {
        // Files that are gone, as in an upgrade under the running daemon, must not end it.
        dependencies.log.error({ err: thrown }, 'status page cannot be loaded');
        response.destroy();
      }
    },
    close() {
      opened?.then(
        (app) => app.close(),
        () => undefined,
      );
    },
  };
}

function factsOf(dependencies: StatusServerDependencies): () => Promise<StatusFacts> {
  const rowCounts = createRowCounts(dependencies.engine);
  return async () => {
    const { config, loadedAt } = dependencies.running();
    return statusFacts({
      ...dependencies,
      config,
      configState: await configState(dependencies.engine).read(),
      configLoadedAt: loadedAt,
      configError: await dependencies.refusedEdit(),
      session: await dependencies.session(),
      rowCounts,
    });
  };
}
