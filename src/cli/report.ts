// roadbook report missing-proof: executed stops that lack evidence, by agent and day.
import type { Command } from 'commander';
import { knownDay } from '../core/time/known-day.ts';
import { type MissingProof, missingProof, proofByAgent } from '../warehouse/queries/missing-proof.ts';
import { addCommand, print, usageError, withApp } from './command.ts';
import { textTable } from './output/text-table.ts';

interface DayOptions {
  day?: string;
}

export function define(parent: Command): void {
  addCommand<DayOptions>(parent, {
    usage: 'missing-proof',
    summary: 'lists executed stops without a required picture, signature or checklist, by agent and day',
    options: (command) => command.option('--day <date>', 'only this local day, for example 2026-01-31'),
    action: withApp(async (app, _args, { json, day }) => {
      if (day !== undefined && !knownDay.safeParse(day).success)
        throw usageError('--day is not a date', 'for example 2026-01-31');
      await app.privacy();
      const stops = await missingProof(await app.warehouse(), { day });
      print(json ? JSON.stringify(stops, null, 2) : show(stops));
    }),
  });
}

function show(stops: readonly MissingProof[]): string {
  if (stops.length === 0) return 'No executed stop lacks evidence that `proof` in the configuration requires.';
  const rows = proofByAgent(stops).map(({ which, ...own }) => [
    own.day,
    own.agent,
    own.stops,
    own.by_office,
    own.lacks_picture,
    own.lacks_signature,
    own.lacks_checklist,
    which.join(', ') + (own.stops > which.length ? ', …' : ''),
  ]);
  return textTable(
    ['day', 'agent', 'stops', 'of which by office', 'no picture', 'no signature', 'no checklist', 'which'],
    rows,
  );
}
