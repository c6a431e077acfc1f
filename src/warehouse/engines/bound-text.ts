// PostgreSQL holds no NUL character, and tools cut a SQLite text at one. A record that has one is quarantined before
// it comes here; what is left are words about it, in which a replacement character stands for NUL on every engine.
export const withoutNul = (value: unknown): unknown =>
  typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value;
