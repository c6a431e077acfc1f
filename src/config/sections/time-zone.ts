// An IANA time zone by name. Offsets such as `+03:00` are rejected: they ignore daylight saving time.
import { nearest } from '../../core/text/near-word.ts';
import { checkedText } from './section.ts';

export const timeZone = checkedText(
  (name) => (isTimeZone(name) ? undefined : 'is not an IANA time zone'),
  hintFor,
).meta({ title: 'IANA time zone', examples: ['America/Sao_Paulo', 'UTC'] });

function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function hintFor(name: string): string {
  const zones = Intl.supportedValuesOf('timeZone');
  const near = nearest(name, zones) ?? zoneOfCity(name, zones);
  return near === undefined ? 'write it as `America/Sao_Paulo` or `UTC`' : `did you mean \`${near}\`?`;
}

/** Finds the zone for a city without its continent. */
function zoneOfCity(name: string, zones: readonly string[]): string | undefined {
  const ending = `/${name.replaceAll(' ', '_')}`.toLowerCase();
  return zones.find((zone) => zone.toLowerCase().endsWith(ending));
}
