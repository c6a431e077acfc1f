// How the long commands (prove, bench, mutate) meet arguments they cannot use: in one line, before anything is begun.

export function refuse(words: string): never {
  process.stderr.write(`${words}\n`);
  process.exit(2);
}
