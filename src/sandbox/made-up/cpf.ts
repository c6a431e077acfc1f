// CPF, the Brazilian personal tax number: nine digits and two check digits. Numbers made here are valid in
// form and different for each index.

const BODIES = 1_000_000_000;
/** Odd and no multiple of five, so that index → body is one to one. */
const STRIDE = 387_420_489;

export function cpfOf(seed: number, index: number): string {
  const start = 123_456_789 + (Math.abs(seed) % 1_000) * 104_729;
  const body = String((start + ((index * STRIDE) % BODIES)) % BODIES).padStart(9, '0');
  const first = checkDigit(body);
  return body + first + checkDigit(body + first);
}

export function isValidCpf(text: string): boolean {
  const digits = text.replace(/[.\-\s]/g, '');
  if (!/^\d{11}$/.test(digits) || /^(\d)\1+$/.test(digits)) return false;
  const body = digits.slice(0, 9);
  const first = checkDigit(body);
  return digits === body + first + checkDigit(body + first);
}

/** Weighted sum modulo 11, the last digit weighing two. */
function checkDigit(digits: string): string {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) sum += Number(digits[i]) * (digits.length + 1 - i);
  const rest = (sum * 10) % 11;
  return String(rest === 10 ? 0 : rest);
}
