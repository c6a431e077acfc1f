// The one place where the description of the service is silent or contradicts itself, and what is sent there.
// Each reading has its reason; what cannot be decided here is a setting.
import { toInstant } from './instants.ts';

/** How a Collection is sent outside the event query, where the form is not documented: service.collections. */
export type CollectionForm = 'json' | 'comma' | 'repeat';

/** Both spellings are documented; the requests that are shown send the singular one for events. */
export const EVENT_GROUPING = 'aggregated_field';

/** The event query documents its Collections as JSON, and its includes as comma-separated text. */
export const EVENT_FORMS = {
  periods: 'json',
  vehicles_id: 'json',
  driver_ids: 'json',
  includes: 'comma',
} as const;

/** Where includes is typed as Text and not as a Collection, it is a comma-separated text as in the event query. */
export const TEXT_INCLUDES = { includes: 'comma' } as const;

/** The shown body has the object, the parameter table the bare id: the body that is shown is sent. */
export const categoryAsSent = (id: number): { id: number } => ({ id });

/** A flag in a query: is_deliveryman has the default 1, so flags are digits. */
export const flagAsSent = (value: boolean): string => (value ? '1' : '0');

/** A date-time in a query is UTC (the event query asks for it) and has a fraction only where there is one. */
export const instantAsSent = (text: string): string => (toInstant(text) ?? text).replace('.000Z', 'Z');

export interface PointType {
  /** As the description of the input allows it. */
  name: string;
  /** As the shown call and the answers have it; Coleta has none that is shown. */
  code: string | undefined;
}

/** The initials fit: PA Partida, CH Chegada, and PE for a stop in between, which is the delivery. */
export const POINT_TYPES: readonly PointType[] = [
  { name: 'Partida', code: 'PA' },
  { name: 'Coleta', code: undefined },
  { name: 'Entrega', code: 'PE' },
  { name: 'Chegada', code: 'CH' },
];

/** The name of a point type for people; a type that is not known is kept as it came. */
export function pointTypeName(type: string): string {
  return POINT_TYPES.find(({ code }) => code === type)?.name ?? type;
}

export const RENEWAL_MODES = ['refresh-bearer', 'body', 'access-bearer', 'login'] as const;
/** How the refresh token is presented is not documented; `login` means that no renewal is tried. */
export type RenewalMode = (typeof RENEWAL_MODES)[number];

/** Tried in this order where nothing is known: "no payload" fits a bearer best, and then the refresh token. */
export const RENEWAL_TRIALS: readonly RenewalMode[] = ['refresh-bearer', 'body', 'access-bearer'];

/** The name that login gives the refresh token is the name it has in a body. */
export const refreshAsSent = (refreshToken: string): { refresh_token: string } => ({
  refresh_token: refreshToken,
});
