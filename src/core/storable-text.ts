// Texts that every database keeps as they are: PostgreSQL stores no NUL and no half of a character (a lone surrogate), so
// records and things of the ERP that hold one are refused alike, whatever the engine.

export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');
