// Durations as users write them: `90s`, `10m`, `6h`, `7d`. In the code a duration is always in milliseconds.

export const DAY_MS = 86_400_000;

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS } as const;
type Unit = keyof typeof UNIT_MS;

export const DURATION_PATTERN = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/** Milliseconds, or undefined if `text` is not a duration. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION_PATTERN.exec(text.trim());
  if (match === null) return undefined;
  return Math.round(Number(match[1]) * UNIT_MS[match[2] as Unit]);
}

/** A short, nearly exact form for people: `1h 30m`, `2.4s`, `850ms`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${Number((ms / 1_000).toFixed(1))}s`;
  const parts: string[] = [];
  let left = Math.round(ms / 1_000) * 1_000;
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    const count = Math.floor(left / UNIT_MS[unit]);
    left -= count * UNIT_MS[unit];
    if (count > 0) parts.push(`${count}${unit}`);
  }
  return parts.slice(0, 2).join(' ');
}
