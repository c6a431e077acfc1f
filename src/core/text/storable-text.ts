// Texts that every database can store. PostgreSQL stores neither NUL nor a lone surrogate (half a character), so records
// and ERP items that contain one are rejected on every engine.

/** What no database can store becomes a replacement character: a text about a rejected record may repeat it. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');

export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** Whether every text in a value is storable, from its JSON.stringify output. */
export const isStorableJson = (json: string): boolean => !ESCAPED.test(json);

/** NUL and lone surrogates as JSON.stringify writes them. */
const ESCAPED = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;
