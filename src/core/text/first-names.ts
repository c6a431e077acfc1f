/** The names with commas between, or the first `most` of them and an ellipsis. */
export const firstNames = (names: readonly string[], most: number): string =>
  [...names.slice(0, most), ...(names.length > most ? ['…'] : [])].join(', ');
