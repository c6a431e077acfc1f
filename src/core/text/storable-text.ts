// Texts that every database keeps as they are: PostgreSQL stores no NUL and no half of a character (a lone surrogate), so
// records and items of the ERP that hold one are refused alike, whatever the engine.

export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** Of all texts in a value, by what JSON.stringify made of it. */
export const isStorableJson = (json: string): boolean => !ESCAPED.test(json);

/** NUL and lone surrogates as JSON.stringify writes them. */
const ESCAPED = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;
