// PostgreSQL stores no NUL character, and tools cut a SQLite text at one. A record with a NUL is quarantined before this
// point. Texts about it, such as the reason, get a replacement character instead, on every engine.
export const withoutNul = (value: unknown): unknown =>
  typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value;
