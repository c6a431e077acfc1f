// What every step of one push run works with.
import { isoInstant } from '../../core/clock.ts';
import type { RoadbookError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/glossary.ts';
import type { ErpSource } from '../../erp/source.ts';
import { type Digest, personalDigest } from '../../warehouse/personal-digest.ts';
import type { RunContext } from '../job.ts';
import type { PushKind, ServiceCall } from './push-kind.ts';

export interface PushSettings {
  /** How long a search must not find a thing before it is believed absent, ms. */
  settle: number;
  /** Search the service before the first send too, not only after an unclear one; of kinds that have the choice. */
  check_before_send?: boolean | undefined;
  /** What a change in the ERP does to a thing that the service has and that no call can change. */
  after_confirmation: 'flag' | 'ignore';
  /** How long the content of a refused thing is kept for another try, ms. */
  keep_refused: number;
  /** Local time by which what starts tomorrow has to be confirmed. */
  deadline?: string | undefined;
  /** `external_code`: a thing under the same key that was not pushed from here is not taken for ours. */
  match?: string | undefined;
}

/** The feed of a kind, as the wiring opens it. */
export interface Feed {
  source: ErpSource;
  /** Defaults for the options of each thing. */
  options: JsonObject;
}

export interface PushRun {
  kind: PushKind;
  feed: Feed;
  settings: PushSettings;
  context: RunContext;
  call: ServiceCall;
  /** For whatever must not be stored in clear. */
  digest: Digest;
  failures: RoadbookError[];
  /** ISO instant of now. */
  now(): string;
}

export async function openPush(kind: PushKind, feed: Feed, context: RunContext): Promise<PushRun> {
  const { parts, counts, signal, options } = context;
  const now = (): string => isoInstant(parts.clock.now());
  return {
    kind,
    feed,
    settings: options as unknown as PushSettings,
    context,
    digest: await personalDigest(parts.engine, now()),
    failures: [],
    now,
    call: (endpoint, request) =>
      parts.fleet.call(endpoint, request, {
        signal,
        onRequest: () => {
          counts.requests++;
        },
        onRetry: () => {
          counts.retries++;
        },
      }),
  };
}
