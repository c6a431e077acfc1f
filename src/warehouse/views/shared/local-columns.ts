// Columns of local time for views. The offset of the configured zone comes from time_zone_offset, so that both engines give
// the same result, whatever time zones they support.
import { instant, local, type ViewColumnDraft } from '../../schema/view.ts';

/** The offset of the configured zone at an instant, in seconds. */
export const offsetAt = (at: string): string =>
  `(select zone.offset_seconds from time_zone_offset as zone where zone.from_at <= ${at}
    order by zone.from_at desc limit 1)`;

/** `<name>_at` in UTC and `<name>_local` in local time. `what` completes the sentence "When …". */
export const atAndLocal = (name: string, what: string, at: string): Record<string, ViewColumnDraft> => ({
  [`${name}_at`]: instant(`When ${what}, UTC.`, at),
  [`${name}_local`]: local(`When ${what}, local time.`, ({ localTime }) => localTime(at, offsetAt(at))),
});
