// The arguments that a command gets from the typed ones.
import { Command } from 'commander';
import { expect, it } from 'vitest';
import { defineCommand } from '../../../src/cli/command.ts';

it.each([
  [[], []],
  [['7'], ['7']],
])('an optional argument: %j gives %j', async (typed, given) => {
  const got: string[][] = [];
  const command = defineCommand(new Command().argument('[id]'), {
    action: async (args) => {
      got.push(args);
      return 0;
    },
  });
  await command.parseAsync(typed, { from: 'user' });
  expect(got).toEqual([given]);
});
