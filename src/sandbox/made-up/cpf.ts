// CPF, the Brazilian personal tax number: nine digits and two check digits. The generated numbers are formally valid and
// differ for each index.

const BODIES = 1_000_000_000;
/** Coprime to BODIES (odd, not a multiple of five), so that each index has its own number. */
const STRIDE = 387_420_489;

export function cpfOf(seed: number, index: number): string {
  const start = 123_456_789 + (Math.abs(seed) % 1_000) * 104_729;
  const body = String((start + ((index * STRIDE) % BODIES)) % BODIES).padStart(9, '0');
  const first = checkDigit(body);
  return body + first + checkDigit(body + first);
}

/** Weighted sum modulo 11; the last digit has the weight two. */
function checkDigit(digits: string): string {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) sum += Number(digits[i]) * (digits.length + 1 - i);
  const rest = (sum * 10) % 11;
  return String(rest === 10 ? 0 : rest);
}
