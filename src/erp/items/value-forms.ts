// The canonical form of plates, tax numbers and types of a stop, which ERPs write in several ways.

const DOCUMENT_LENGTH = 11;
const PUNCTUATED_DOCUMENT = /^\d{3}\.?\d{3}\.?\d{3}-?\d{2}$/;

/** Both Brazilian formats: ABC1234 and ABC1D23. */
export const PLATE = /^[A-Z]{3}\d[A-Z0-9]\d{2}$/;

export const plateText = (text: string): string => text.toUpperCase().replace(/[\s.-]/g, '');

/** The digits only. A number gets back its lost leading zeros; a text of another shape stays unchanged. */
export function documentText(given: string | number): string {
  if (typeof given === 'number') return String(given).padStart(DOCUMENT_LENGTH, '0');
  const text = given.trim();
  return PUNCTUATED_DOCUMENT.test(text) ? text.replace(/\D/g, '') : text;
}

/** The service uses the codes PA, PE and CH without explaining them; the initials suggest these names. */
const NAME_BY_CODE: Readonly<Record<string, string>> = {
  PA: 'Partida',
  CO: 'Coleta',
  PE: 'Entrega',
  CH: 'Chegada',
};

export const POINT_TYPE_NAMES: readonly string[] = Object.values(NAME_BY_CODE);

/** The documented name for a name or code, in upper or lower case; any other text stays unchanged. */
export function pointTypeName(word: string): string {
  const typed = word.trim();
  const name = POINT_TYPE_NAMES.find((known) => known.toLowerCase() === typed.toLowerCase());
  return name ?? NAME_BY_CODE[typed.toUpperCase()] ?? word;
}
