// Number plates in both Brazilian formats: the older ABC1234 and the Mercosul ABC1D23. Each index has its own plate;
// even indexes have the older format, odd ones the newer.

const LETTERS = 26;
const OLDER = LETTERS ** 3 * 10_000;
const NEWER = LETTERS ** 4 * 1_000;
/** Prime, hence coprime to both counts, so that each index has its own plate. */
const STRIDE = 15_485_863;

export function plateOf(seed: number, index: number): string {
  const half = Math.floor(index / 2);
  const start = 7_919 * (1 + (Math.abs(seed) % 10_000));
  return index % 2 === 0 ? olderPlate((start + half * STRIDE) % OLDER) : newerPlate((start + half * STRIDE) % NEWER);
}

function olderPlate(number: number): string {
  const digits = String(number % 10_000).padStart(4, '0');
  return letters(Math.floor(number / 10_000), 3) + digits;
}

function newerPlate(number: number): string {
  const digits = String(number % 1_000).padStart(3, '0');
  const text = letters(Math.floor(number / 1_000), 4);
  return `${text.slice(0, 3)}${digits[0]}${text[3]}${digits.slice(1)}`;
}

function letters(number: number, count: number): string {
  let text = '';
  for (let left = number, i = 0; i < count; i++, left = Math.floor(left / LETTERS)) {
    text = String.fromCharCode(65 + (left % LETTERS)) + text;
  }
  return text;
}
