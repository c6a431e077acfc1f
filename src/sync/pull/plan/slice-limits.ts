// When a slice is too much: how many records it may have, and by which errors it is cut.
import { type RoadbookError, Skippable } from '../../../core/errors.ts';
import type { Slice } from '../../slice.ts';
import type { Pull } from '../types.ts';

const TOO_LARGE = new Set(['too_large', 'body_too_large', 'timed_out']);
/** The slice needs too many further calls or has too many records, but its search is not too large. */
export const TOO_MANY = 'too_many';

/** There are smaller slices: not of, say, all drivers of one day. */
export const canBeCut = (job: Pick<Pull, 'split'>, slice: Slice): boolean => job.split?.(slice, TOO_MANY) !== undefined;

export const tooMany = (what: string): Skippable =>
  new Skippable(`The slice has ${what}`, { code: TOO_MANY, hint: 'The slice is cut and read in parts.' });

/** Most records that the calls of a slice prepare: all are in memory until the transaction. A slice with more is cut. */
const MOST_PREPARED = 50_000;
/** Most records of one table that are read at once. A slice with more is cut, or fails if it cannot be. */
export const MOST_UNCUT = 500_000;

/** Returns a function that adds to the records of a slice, and throws once they are too many. */
export function recordLimit(isDivisible: () => boolean, most = MOST_PREPARED): (more: number) => void {
  let records = 0;
  return (more) => {
    records += more;
    if (records > most && isDivisible()) throw tooMany(`more than ${most} records`);
    if (records > MOST_UNCUT) {
      throw new Skippable(`The slice has more than ${MOST_UNCUT} records and cannot be cut`, {
        code: 'slice_too_large',
        hint: 'Its period counts as not read. Check what the service returns for it: so many records are probably a fault.',
      });
    }
  };
}

/** The slice may succeed if it is cut. */
export const isTooMuch = ({ code }: RoadbookError): boolean => isTooLarge(code) || code === TOO_MANY;

/** The service rejects the request, perhaps because of one of the records that it names. */
export const isRejected = ({ code }: RoadbookError): boolean => code === 'request_rejected' || code === 'not_found';

/** Slices of the next run should be smaller. */
export const isTooLarge = (code: string): boolean => TOO_LARGE.has(code);
