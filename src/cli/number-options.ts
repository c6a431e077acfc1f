// Parsers for numeric command options.
import { InvalidArgumentError } from 'commander';

export const wholeNumberFrom =
  (least: number, most?: number) =>
  (text: string): number => {
    const number = Number(text);
    const isWithin = number >= least && number <= (most ?? Number.MAX_SAFE_INTEGER);
    if (text.trim() !== '' && Number.isInteger(number) && isWithin) return number;
    throw new InvalidArgumentError(
      most === undefined
        ? `Expected a whole number, at least ${least}.`
        : `Expected a whole number from ${least} to ${most}.`,
    );
  };

export const wholeNumber = wholeNumberFrom(1);

/** Whole numbers separated by commas. Rejects 10,500, which may mean one number. */
export function wholeNumbers(text: string): number[] {
  const [first = '', ...others] = text.split(',');
  if (others.some((part) => /^\d{3}$/.test(part))) {
    throw new InvalidArgumentError(
      'One number or two? Write one without commas (10500), and several with a space after each comma ("10, 500").',
    );
  }
  return [first, ...others].map(wholeNumber);
}

export function amount(text: string): number {
  const number = Number(text);
  if (text.trim() !== '' && Number.isFinite(number) && number >= 0) return number;
  throw new InvalidArgumentError('Expected a number, at least 0.');
}
