// Whether a listing can be believed when it does not show something. One that shows nothing at all proves nothing,
// nor does one without anything of what the service has confirmed: both may be looking elsewhere.
import { isoInstant } from '../../core/clock.ts';
import type { JsonObject } from '../../core/glossary.ts';
import { confirmedWithin, shownPeriod } from '../../warehouse/outbox-search.ts';
import type { Period, Seen } from './push-kind.ts';
import type { PushRun } from './push-run.ts';

export interface Listing {
  byId: ReadonlyMap<number, Seen>;
  byKey: ReadonlyMap<string, Seen[]>;
}

export const indexed = (seen: readonly Seen[]): Listing => ({
  byId: new Map(seen.map((each) => [each.id, each])),
  byKey: Map.groupBy(seen, ({ key }) => key),
});

/** Why the absence of a thing proves nothing; undefined where the listing has a witness. */
export type Witness = (data: JsonObject) => Promise<string | undefined>;

const SHOWS_NOTHING = 'The search shows nothing at all, so it proves nothing';
const HIDES_CONFIRMED = 'The search shows none of what the service has confirmed, so it proves nothing';

/** How far around a period without a record a control search looks. */
const WIDER_MS = 14 * 86_400_000;

/** `period` is what was searched; asks the service once more at most, and only where somebody wants to know. */
export function witnessOf(push: PushRun, listing: Listing, period: Period | undefined): Witness {
  const { kind, settings, context } = push;
  const { engine, clock } = context.parts;

  const hidesConfirmed = once(async () => {
    // What was confirmed a moment ago may not be shown yet.
    const before = isoInstant(clock.now() - settings.settle);
    const known = await engine.read((sql) => confirmedWithin(sql, kind.feed, before, period));
    const isShown = known.some(
      ({ remote_id, remote_key }) =>
        (remote_id !== null && listing.byId.has(remote_id)) || listing.byKey.has(remote_key),
    );
    return { isKnown: known.length > 0, isHidden: known.length > 0 && !isShown };
  });

  const isSeeing = once(async () => {
    if (period === undefined) return false;
    const shown = await engine.read((sql) => shownPeriod(sql, kind.feed));
    return (await kind.list(push.call, shown ?? wider(period), push.digest)).length > 0;
  });

  return async (data) => {
    const { isKnown, isHidden } = await hidesConfirmed();
    if (isHidden) return HIDES_CONFIRMED;
    const list = kind.listOf?.(data);
    const seen = [...listing.byId.values()];
    if (isKnown || seen.some((each) => each.list === list)) return undefined;
    return (await isSeeing()) ? undefined : SHOWS_NOTHING;
  };
}

const wider = ({ start, end }: Period): Period => ({
  start: isoInstant(Date.parse(start) - WIDER_MS),
  end: isoInstant(Date.parse(end) + WIDER_MS),
});

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}
