// Plates and tax numbers in their one canonical form, however an ERP punctuates them.

const DOCUMENT_LENGTH = 11;
const PUNCTUATED_DOCUMENT = /^\d{3}\.?\d{3}\.?\d{3}-?\d{2}$/;

/** Both Brazilian formats: ABC1234 and ABC1D23. */
export const PLATE = /^[A-Z]{3}\d[A-Z0-9]\d{2}$/;

export const plateText = (text: string): string => text.toUpperCase().replace(/[\s.-]/g, '');

/** Digits alone. A number cell has lost its leading zeros; a text that has another shape stays as it is. */
export function documentText(given: string | number): string {
  if (typeof given === 'number') return String(given).padStart(DOCUMENT_LENGTH, '0');
  const text = given.trim();
  return PUNCTUATED_DOCUMENT.test(text) ? text.replace(/\D/g, '') : text;
}
