// The warehouse resources of one process: the engine with its schema migrated, the privacy policies, the heartbeat and
// the leases. Each is opened on first use.
import { join } from 'node:path';
import type { LoadedConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { lazyResource } from '../core/lazy-resource.ts';
import type { Log } from '../core/log.ts';
import type { Clock } from '../core/time/clock.ts';
import {
  fillProofRules,
  fillStopRules,
  fillTableJobs,
  type TableJob,
  tableJob,
} from '../warehouse/control/config-tables.ts';
import { createLeaseManager } from '../warehouse/control/leases.ts';
import { createHeartbeat, readDaemons, type SliceMeter } from '../warehouse/control/processes.ts';
import type { Engine, EngineKind } from '../warehouse/engine.ts';
import { engines } from '../warehouse/engines.ts';
import { fillLocalTime } from '../warehouse/load/local-days.ts';
import { createPrivacy } from '../warehouse/privacy/privacy.ts';
import { enforcePrivacy } from '../warehouse/privacy/rewrite.ts';
import { privacySecret } from '../warehouse/privacy/secret.ts';
import { bringSchemaUpToDate } from '../warehouse/schema/converge.ts';

/** Default file for the secret that keys the digests, if the configuration has none. */
const PRIVACY_KEY = join('data', 'privacy.key');

interface StorageDependencies {
  loaded(): LoadedConfig;
  tableJobs(config: Config): TableJob[];
  clock: Clock;
  log: Log;
  version: string;
  slices: SliceMeter;
}

export function createStorage({ loaded, tableJobs, clock, log, version, slices }: StorageDependencies) {
  /** Stores the settings that the views need, where they differ. */
  async function storeSettings(engine: Engine, config: Config): Promise<void> {
    await fillLocalTime(engine, config.timezone, clock.now());
    await fillTableJobs(engine, tableJobs(config));
    await fillProofRules(engine, config.proof);
    await fillStopRules(engine, config.stops);
  }

  /** A daemon has its own settings: it may have rejected those of the file, or have another file. */
  async function mayStoreSettings(engine: Engine): Promise<boolean> {
    const hasNone = (await engine.read((sql) => sql(tableJob.name).first('job'))) === undefined;
    if (hasNone) return true;
    return loaded().error === null && (await readDaemons(engine, clock)).every(({ isSilent }) => isSilent);
  }

  const warehouse = lazyResource(
    async () => {
      const { kind, settings } = engineOf(loaded());
      const engine = await kind.open(settings);
      try {
        await bringSchemaUpToDate(engine);
        if (await mayStoreSettings(engine)) await storeSettings(engine, loaded().config);
        else await engine.useStoredDays();
      } catch (error) {
        await engine.close();
        throw error;
      }
      return engine;
    },
    (engine) => engine.close(),
  );

  const privacy = lazyResource(async () => {
    const { secret, policies } = loaded().config.privacy;
    const made = createPrivacy(policies, secret || (await privacySecret(PRIVACY_KEY)));
    await enforcePrivacy(await warehouse.open(), made, { clock, log });
    return made;
  });

  const heartbeat = lazyResource(async () =>
    createHeartbeat({ engine: await warehouse.open(), clock, log, version, slices }),
  );

  const leases = lazyResource(async () =>
    createLeaseManager(await heartbeat.open(), { engine: await warehouse.open(), clock, log }),
  );

  return {
    warehouse,
    privacy,
    heartbeat,
    leases,
    storeSettings,
    /** Reads the warehouse without migrating it; undefined if it does not exist yet or cannot be read. */
    async tryRead<T>(read: (engine: Engine) => Promise<T>): Promise<T | undefined> {
      const { kind, settings } = engineOf(loaded());
      if ((await kind.exists?.(settings)) === false) return undefined;
      const engine = await kind.open(settings);
      return read(engine)
        .catch(() => undefined)
        .finally(() => engine.close());
    },
  };
}

function engineOf({ config }: LoadedConfig): { kind: EngineKind; settings: Record<string, unknown> } {
  const { engine: name, images: _, ...settings } = config.warehouse;
  return { kind: engines[name as keyof typeof engines], settings };
}
