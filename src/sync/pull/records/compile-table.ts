// Compiles the columns of a table into one function that validates a record and returns its row. It accepts only records
// whose fields are all columns, and whose values need no conversion except a date-time to UTC. For any other record it
// returns undefined; the wire schema and the generic mapping then handle the record and give the reason if it is invalid.
// The function is generated code: for events it takes half the time of a chain of closures.
import { stableJson } from '../../../core/text/stable-json.ts';
import { isStorable, isStorableJson } from '../../../core/text/storable-text.ts';
import { isCut } from '../../../fleet/cut-record.ts';
import { toDay, toInstant } from '../../../fleet/instants.ts';
import type { Row } from '../../../warehouse/engine.ts';
import { type Field, type Fields, fieldTree } from '../../../warehouse/load/row-mapping.ts';
import { type Column, recordColumns, type Table } from '../../../warehouse/schema/table.ts';

export type CompiledTable = (record: unknown) => Row | undefined;

/** Functions that the generated code calls. The conversions return undefined for a value that the column cannot hold. */
const CALLED = {
  isStorable,
  isStorableJson,
  isCut,
  stableJson,
  instantOf(value: string): string | undefined {
    if (value.startsWith(EARLY)) return undefined;
    const instant = toInstant(value);
    return instant?.length === INSTANT_LENGTH ? instant : undefined;
  },
  dayOf(value: string): string | undefined {
    return value.startsWith(EARLY) ? undefined : toDay(value);
  },
};
/** A year below 10 may become year 0 in UTC, which no column can hold. */
const EARLY = '000';
/** A fraction finer than milliseconds makes the text longer, and `extra` must keep it. */
const INSTANT_LENGTH = 24;

export function compileTable(table: Table): CompiledTable {
  const columns = recordColumns(table);
  const lines: string[] = ['let last = [];', 'return function rowOf(record) {'];
  if (columns.some(({ type }) => type === 'json')) lines.push('if (isCut(record)) return undefined;');
  lines.push(`let ${columns.map((_, position) => `c${position} = null`).join(', ')};`);
  const aliased = columns.flatMap(({ alias }, position) => (alias === undefined ? [] : [position]));
  if (aliased.length > 0) lines.push(`let ${aliased.map((at) => `alias${at} = null`).join(', ')};`);
  writeObject('record', fieldTree(table), { columns, lines, depth: 0 });
  for (const at of aliased) lines.push(...mergeAlias(columns, at));
  const missing = columns.flatMap(({ required }, position) => (required ? [`c${position} === null`] : []));
  if (missing.length > 0) lines.push(`if (${missing.join(' || ')}) return undefined;`);
  lines.push(`return last = [${[...columns.keys()].map((at) => `c${at}, `).join('')}null];`, '};');
  // Safe: the code contains only names and positions of declared columns, each name as a JSON string.
  const make = new Function(...Object.keys(CALLED), lines.join('\n'));
  return make(...Object.values(CALLED)) as CompiledTable;
}

interface Writing {
  columns: readonly Column[];
  lines: string[];
  depth: number;
}

/** Detects unknown fields by counting: the object must have no more fields than were read. */
function writeObject(object: string, fields: Fields, writing: Writing): void {
  const { lines, depth } = writing;
  const unread = `unread${depth}`;
  lines.push(
    `if (typeof ${object} !== 'object' || ${object} === null || Array.isArray(${object})) return undefined;`,
    `let ${unread} = 0;`,
    `for (const _ in ${object}) ${unread}++;`,
  );
  for (const [name, field] of fields) {
    // Each field has its own variable, so that V8 can infer its type.
    const value = `value${lines.length}`;
    lines.push(`const ${value} = ${object}[${JSON.stringify(name)}];`);
    lines.push(`if (${value} !== undefined) {`, `${unread}--;`, `if (${value} !== null) {`);
    if (field.fields !== undefined) writeObject(value, field.fields, { ...writing, depth: depth + 1 });
    else writeValue(value, field, writing);
    lines.push('}', '}');
  }
  lines.push(`if (${unread} !== 0) return undefined;`);
}

/** Validates the value and assigns it to the variable of its column, or to that of an alias. */
function writeValue(value: string, { position, repeats, type, longest }: Field, { columns, lines }: Writing): void {
  const at = position ?? repeats ?? 0;
  const variable = position === undefined ? `alias${at}` : `c${at}`;
  const unless = (condition: string): number => lines.push(`if (!(${condition})) return undefined;`);
  switch (type) {
    case 'integer':
      unless(`Number.isSafeInteger(${value})`);
      break;
    case 'real':
      unless(`Number.isFinite(${value})`);
      break;
    case 'boolean':
      unless(`typeof ${value} === 'boolean'`);
      break;
    case 'text': {
      // A text equal to that of the row before is valid, and all rows that repeat it share one string in memory.
      const before = `last[${at}]`;
      unless(`typeof ${value} === 'string'`);
      lines.push(`if (${value} === ${before}) ${variable} = ${before};`, 'else {');
      if (longest !== undefined) unless(`${value}.length <= ${longest}`);
      unless(`isStorable(${value})`);
      lines.push(`${variable} = ${value};`, '}');
      return;
    }
    case 'instant':
    case 'date':
      unless(`typeof ${value} === 'string'`);
      lines.push(`${variable} = ${type === 'instant' ? 'instantOf' : 'dayOf'}(${value});`);
      // A value that the job adds does not come from the service, and is stored as the job wrote it.
      unless(columns[at]?.added ? `${variable} === ${value}` : `${variable} !== undefined`);
      return;
    case 'json':
      lines.push(`${variable} = stableJson(${value});`);
      unless(`isStorableJson(${variable})`);
      if (longest !== undefined) unless(`${variable}.length <= ${longest}`);
      return;
  }
  lines.push(`${variable} = ${value};`);
}

/**
 * If a column and its alias both have a value, the values must be equal. The object that holds the alias must fill another
 * column too: an object with only the alias could not be distinguished from an absent one.
 */
function mergeAlias(columns: readonly Column[], at: number): string[] {
  const parent = columns[at]?.alias?.slice(0, -1) ?? [];
  const isInside = ({ from }: Column): boolean => parent.every((name, depth) => from[depth] === name);
  const others = columns.flatMap((column, position) => (isInside(column) ? [`c${position} !== null`] : []));
  return [
    `if (alias${at} !== null) {`,
    `if (!(${others.join(' || ') || 'false'})) return undefined;`,
    `if (c${at} === null) c${at} = alias${at};`,
    `else if (c${at} !== alias${at}) return undefined;`,
    '}',
  ];
}
