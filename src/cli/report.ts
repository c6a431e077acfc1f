// roadbook report missing-proof: executed stops that lack evidence, by agent and day.
import type { Command } from 'commander';
import { knownDay } from '../core/time/known-day.ts';
import { localDate, periodOf } from '../core/time/local-days.ts';
import { type MissingProof, missingProof, proofByAgent, proofReadings } from '../warehouse/queries/missing-proof.ts';
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
      const engine = await app.warehouse();
      const { timezone } = app.loaded.config;
      const based = await proofReadings(engine, { day, today: localDate(app.clock.now(), timezone) });
      const stops = await missingProof(engine, { day });
      const ends = day === undefined ? undefined : { day, at: periodOf(day, timezone).to };
      print(
        json
          ? JSON.stringify({ ...based, stops }, null, 2)
          : [...show(stops, based), ...limits(based, ends)].join('\n'),
      );
    }),
  });
}

type Based = Awaited<ReturnType<typeof proofReadings>>;

function show(stops: readonly MissingProof[], { read }: Based): string[] {
  if (stops.length === 0) {
    const arePlansUnread = read.some(({ table, read_until }) => table === 'route_plan' && read_until === null);
    return arePlansUnread ? [] : ['No executed stop lacks evidence that `proof` in the configuration requires.'];
  }
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
  const head = ['day', 'agent', 'stops', 'of which by office', 'no picture', 'no signature', 'no checklist', 'which'];
  return [textTable(head, rows)];
}

const NAMES = { route_plan: 'Route plans', checklist: 'Checklists' };

/** What the list leaves out, or names without reason, because it was not read. Nothing of a day that was read to its end. */
function limits({ read, unused_forms }: Based, ends: { day: string; at: string } | undefined): string[] {
  const ofDay = ends === undefined ? '' : ` of ${ends.day}`;
  return [
    ...read
      .filter(({ read_until }) => read_until === null || ends === undefined || read_until < ends.at)
      .map(({ table, read_until, is_known }) => {
        if (!is_known)
          return `It is not known whether all ${NAMES[table].toLowerCase()}${ofDay} were read: the days of the last year only are recorded.`;
        const what = `${NAMES[table]}${ofDay} have`;
        if (read_until !== null) return `${what} been read until ${read_until}.`;
        const blame = table === 'checklist' ? ', so every stop counts as one without' : '';
        const hint = ends === undefined ? `: npx roadbook run pull-${table.replace('_', '-')}s` : '.';
        return `${what} not been read yet${blame}${hint}`;
      }),
    ...unused_forms.map(
      (name) => `No checklist has the form ${JSON.stringify(name)}. Check its name in proof.checklists.`,
    ),
  ];
}
