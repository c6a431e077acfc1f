// Numbers as options of commands take them.
import { InvalidArgumentError } from 'commander';

export function wholeNumber(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new InvalidArgumentError('It takes a whole number from 1 on.');
}

/** Several, with commas between them. */
export const wholeNumbers = (text: string): number[] => text.split(',').map(wholeNumber);

export function amount(text: string): number {
  const number = Number(text);
  if (text.trim() !== '' && Number.isFinite(number) && number >= 0) return number;
  throw new InvalidArgumentError('It takes a number from 0 on.');
}
