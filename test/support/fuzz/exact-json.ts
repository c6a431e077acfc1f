// JSON.parse that loses no digit: a whole number that a double cannot distinguish from its
// neighbours, or that is beyond any double, stays as the digits that were written.

const DIGITS = /^-?\d+$/;

export const exactJson = (text: string): unknown => JSON.parse(text, keepDigits);

function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined || Number.isSafeInteger(value)) return value;
  // A double that is written back unchanged is exact; a database may write it without the exponent.
  if (source === String(value) || source === withoutExponent(value)) return value;
  return DIGITS.test(source) || !Number.isFinite(value) ? source : value;
}

function withoutExponent(value: number): string {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [digits = '', fraction = ''] = mantissa.split('.');
  return digits + fraction.padEnd(Number(exponent), '0');
}
