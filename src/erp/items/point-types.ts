// The types of a stop: the names that the service documents, and the codes that ERPs use for them.

/** The service names the codes PA, PE and CH without saying what they mean; the initials do. */
const NAME_BY_CODE: Readonly<Record<string, string>> = {
  PA: 'Partida',
  CO: 'Coleta',
  PE: 'Entrega',
  CH: 'Chegada',
};

export const POINT_TYPE_NAMES: readonly string[] = Object.values(NAME_BY_CODE);

/** The documented name of a name or code in any case; anything else stays as it is. */
export function pointTypeName(word: string): string {
  const typed = word.trim();
  const name = POINT_TYPE_NAMES.find((known) => known.toLowerCase() === typed.toLowerCase());
  return name ?? NAME_BY_CODE[typed.toUpperCase()] ?? word;
}
