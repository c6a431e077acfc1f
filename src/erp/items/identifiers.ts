// The canonical form of plates and tax numbers: without the ERP's punctuation.

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
