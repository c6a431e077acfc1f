// Loads the routes of the status server with the first request. They and the Node modules they import take a sixth of
// a second and 40 MB, and the daemon should start working before that. Values that must date from the start of the
// process are read here.
import { lazyResource } from '../../core/lazy-resource.ts';
import { readConfigState } from '../../warehouse/control/config-state.ts';
import { createRowCounts } from '../../warehouse/queries/row-counts.ts';
import { type StatusFacts, statusFacts } from '../health/status-document.ts';
import type { StatusServerDependencies } from './dependencies.ts';
import type { StatusApp } from './status-app.ts';

export function lazyStatusApp(dependencies: StatusServerDependencies, host: string): StatusApp {
  const readFacts = factsReader(dependencies);
  // Counts large tables before the first request waits for them. A failure is ignored here; the first request meets it
  // again. This read is not shared with requests: they must not get the state of the start.
  readFacts().catch(() => undefined);

  const lazyApp = lazyResource(
    async () => (await import('./status-app.ts')).createStatusApp({ ...dependencies, host, readFacts }),
    (app) => app.close(),
  );

  return {
    async answer(request, response) {
      try {
        const app = await lazyApp.open();
        // The client may have left during the import; its close event has already passed.
        if (!response.destroyed) app.answer(request, response);
      } catch (thrown) {
        // Missing files, for example during an upgrade under the running daemon, must not stop the daemon.
        dependencies.log.error({ err: thrown }, 'status page could not be loaded');
        response.destroy();
      }
    },
    close: () => void lazyApp.close(),
  };
}

function factsReader(dependencies: StatusServerDependencies): () => Promise<StatusFacts> {
  const rowCounts = createRowCounts(dependencies.engine);
  return async () => {
    const { config, loadedAt } = dependencies.running();
    return statusFacts({
      ...dependencies,
      config,
      configState: await readConfigState(dependencies.engine),
      configLoadedAt: loadedAt,
      configError: await dependencies.rejectedEdit(),
      session: await dependencies.session(),
      rowCounts,
    });
  };
}
