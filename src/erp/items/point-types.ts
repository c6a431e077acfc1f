// The types of a stop: the names that the service documents, and the codes that ERPs use.

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
