// How Roadbook interprets the description of the service where it is silent or contradicts itself. Each choice states its
// reason. A choice that depends on the account is a setting.
import { toInstant } from './instants.ts';

/** The form of a Collection outside the event query is not documented, so it is a setting: service.collections. */
export type CollectionForm = 'json' | 'comma' | 'repeat';

/** Both spellings are documented; the example requests use the singular for events. */
export const EVENT_GROUPING = 'aggregated_field';

/** The event query documents its Collections as JSON and its includes as comma-separated text. */
export const EVENT_FORMS = {
  periods: 'json',
  vehicles_id: 'json',
  driver_ids: 'json',
  includes: 'comma',
} as const;

/** If includes is documented as Text and not as a Collection, it is comma-separated as in the event query. */
export const TEXT_INCLUDES = { includes: 'comma' } as const;

/** The example body has an object, the parameter table a plain id. The form of the example is sent. */
export const categoryAsSent = (id: number): { id: number } => ({ id });

/** Flags in a query are digits, since the documented default of is_deliveryman is 1. */
export const flagAsSent = (value: boolean): string => (value ? '1' : '0');

/** A date-time in a query is in UTC, as the event query requires; a zero fraction is left out. */
export const instantAsSent = (text: string): string => (toInstant(text) ?? text).replace('.000Z', 'Z');

/** The service does not document how to send the refresh token. With `login` no renewal is tried. */
export type RenewalMode = 'refresh-bearer' | 'body' | 'access-bearer' | 'login';

/** The order in which `auto` tries the modes. "No payload" is documented, which suggests a bearer: the refresh token. */
export const RENEWAL_TRIALS: readonly RenewalMode[] = ['refresh-bearer', 'body', 'access-bearer'];

/** In a body the refresh token has the same name as in the answer to the login. */
export const refreshAsSent = (refreshToken: string): { refresh_token: string } => ({
  refresh_token: refreshToken,
});
