// The long commands (prove, bench, mutate) reject invalid arguments in one line, before they start.

export function rejectArguments(words: string): never {
  process.stderr.write(`${words}\n`);
  process.exit(2);
}
