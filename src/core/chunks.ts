// Splits a list into chunks of at most `size`, in order.
export const chunks = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) => all.slice(index * size, (index + 1) * size));

export const inTwo = <T>(all: readonly T[]): T[][] => chunks(all, Math.ceil(all.length / 2));
