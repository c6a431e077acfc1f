// The columns of `roadbook init`: which column of the feed is read as which path. They are proposed from their names, given by
// an option or asked for, and become a mapping.
import { terminalText } from '../../core/text/terminal-text.ts';
import type { CheckedColumn } from '../../erp/check.ts';
import type { Mapping } from '../../erp/rows/mapping.ts';
import { say } from '../command.ts';
import { OUTPUT, prompts } from './questions.ts';

/** The columns of each path. */
export type Chosen = Map<string, readonly string[]>;
/** What the feed was found to have, by name. */
type Columns = ReadonlyMap<string, CheckedColumn>;

const NEEDED = ['plan.external_code', 'plan.date_time_start', 'plan.date_time_end', 'point.name', 'point.address'];

/** Asked for where a statement returns the outcomes of stops. */
export const STOP_CODE = 'point.external_code';

/** The other half of each path of a pair, whose halves are read together or not at all. */
const OTHER_HALVES = {
  'point.latitude': 'point.longitude',
  'point.longitude': 'point.latitude',
  'point.time_window.start': 'point.time_window.end',
  'point.time_window.end': 'point.time_window.start',
};

export const isChosen = (path: string, chosen: Chosen): boolean => (chosen.get(path) ?? []).length > 0;

/** A stop has its place by an address or by coordinates, which are both chosen or neither by now. */
const isGiven = (path: string, chosen: Chosen): boolean =>
  isChosen(path, chosen) || (path === 'point.address' && isChosen('point.latitude', chosen));

/** The needed paths that no column is read as. */
export const missingPaths = (chosen: Chosen): string[] => NEEDED.filter((path) => !isGiven(path, chosen));

/** What the columns probably mean, what the options say, and what was answered before; the later ones win. */
export function proposedColumns(columns: Columns, map: readonly string[], before: Chosen): Chosen {
  const chosen: Chosen = new Map();
  for (const { column, paths, suggestion } of columns.values())
    for (const meant of suggestion === null ? paths : [suggestion]) if (!chosen.has(meant)) chosen.set(meant, [column]);
  for (const rule of map) {
    const [path = '', names = ''] = /^([^=]*)=?(.*)$/s.exec(rule)?.slice(1) ?? [];
    chosen.set(
      path.trim(),
      names.split(',').map((name) => name.trim()),
    );
  }
  for (const [path, names] of before) if (names.every((name) => columns.has(name))) chosen.set(path, names);
  return chosen;
}

/** Asks for the other half of each pair; a half that stays alone is left out. */
export async function completePairs(
  chosen: Chosen,
  columns: Columns,
  isAsking: boolean,
  isAgain: boolean,
): Promise<void> {
  for (const [half, path] of Object.entries(OTHER_HALVES)) {
    if (!isChosen(half, chosen)) continue;
    if (isAsking && (isAgain || !isChosen(path, chosen))) await askInto(chosen, columns, path, `, which ${half} needs`);
    if (isChosen(path, chosen)) continue;
    say(`No column is read as ${path}, so ${half} is left out.`);
    chosen.delete(half);
  }
}

export async function askNeeded(chosen: Chosen, columns: Columns, source: string, isAgain: boolean): Promise<void> {
  for (const path of NEEDED) if (isAgain || !isGiven(path, chosen)) await askInto(chosen, columns, path);
  if (source === 'sql' && (isAgain || !isChosen(STOP_CODE, chosen)))
    await askInto(chosen, columns, STOP_CODE, ', without which no outcome of a stop returns');
}

async function askInto(chosen: Chosen, columns: Columns, path: string, why = ''): Promise<void> {
  const { input } = await prompts();
  const question = columnQuestion(`${path}${why}`, [...columns.keys()], chosen.get(path) ?? []);
  chosen.set(path, question.columnsOf(await input(question.input, OUTPUT)));
}

/** Empty if the feed is read just so without a mapping, and no column is read as a path that was left out. */
export function mappingOf(chosen: Chosen, columns: Columns): Mapping {
  const rules = [...chosen].filter(([path, names]) => names.length > 0 && names[0] !== path);
  const isRead = ([path, names]: (typeof rules)[number]): boolean =>
    names.length === 1 && columns.get(String(names[0]))?.paths.includes(path) === true;
  const isWanted = ({ paths }: CheckedColumn): boolean =>
    paths.length > 0 && paths.every((path) => isChosen(path, chosen));
  if (rules.every(isRead) && [...columns.values()].every(isWanted)) return {};
  return Object.fromEntries(
    rules.map(([path, names]) => [path, names.length === 1 ? String(names[0]) : { columns: [...names] }]),
  );
}

/** Several columns are joined by a space. Their names are typed as they are shown, without control characters. */
export function columnQuestion(what: string, header: readonly string[], before: readonly string[]) {
  const byShown = new Map(header.map((column) => [terminalText(column), column]));
  const split = (typed: string): string[] =>
    typed
      .split(',')
      .map((column) => column.trim())
      .filter(Boolean);
  return {
    input: {
      message: `Column of ${what}, or two with a comma, such as a date and its time (${[...byShown.keys()].join(', ')})`,
      default: terminalText(before.join(', ')),
      validate: (typed: string): true | string => {
        const wrong = split(typed).filter((shown) => !byShown.has(shown));
        return wrong.length === 0 || `There is no column ${wrong.join(', ')}.`;
      },
    },
    columnsOf: (typed: string): string[] => split(typed).map((shown) => byShown.get(shown) ?? shown),
  };
}
