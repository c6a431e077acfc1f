// Has Stryker change the files of an area in small ways, one at a time, and reports which changes its tests noticed.
import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import type { Area } from './areas.ts';
import { EXPLAINED, type Mutant } from './explained.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const CONFIG = 'test/mutation/stryker.config.json';

export interface FileFigures {
  /** Under src/. */
  file: string;
  /** A test failed, or the time ran out. */
  killed: number;
  timedOut: number;
  /** No test noticed. */
  survived: Mutant[];
  /** Log lines, words for people and declarations of tables; see wording.ts. */
  ignored: number;
}

export const mutantsOf = ({ killed, survived }: FileFigures): number => killed + survived.length;

/** The survivors of which nobody has said why they may live. */
export const unexplained = (survivors: readonly Mutant[]): Mutant[] =>
  survivors.filter((mutant) => !EXPLAINED.some((known) => isSame(known, mutant)));

/** The explanations, of these files, of what no longer survives. */
export const outdated = (figures: readonly FileFigures[]): Mutant[] =>
  EXPLAINED.filter((known) =>
    figures.some(({ file, survived }) => file === known.file && !survived.some((mutant) => isSame(known, mutant))),
  );

const isSame = (a: Mutant, b: Mutant): boolean =>
  a.file === b.file && a.line === b.line && a.code === b.code && a.becomes === b.becomes;

/**
 * Figures of each file, in the order of the area. Without `isWhole`, results of an earlier run are used again for changes
 * whose code and tests are the same.
 */
export async function mutateArea(name: string, { files }: Area, isWhole: boolean): Promise<FileFigures[]> {
  process.chdir(ROOT);
  // Read by the configuration of vitest, in the processes that Stryker starts.
  process.env.MUTATED_AREA = name;
  const mutate = files.map((file) => `src/${file}`);
  const htmlReporter = { fileName: `test-output/mutation/${name}.html` };
  const incrementalFile = `test-output/mutation/${name}.json`;
  const options = { configFile: CONFIG, mutate, htmlReporter, incremental: true, incrementalFile, force: isWhole };
  const results = await new Stryker(options).runMutationTest();
  return files.map((file) => {
    const own = results.filter(({ fileName }) => relative(`${ROOT}/src`, resolve(fileName)) === file);
    const count = (...statuses: string[]): number => own.filter(({ status }) => statuses.includes(status)).length;
    const odd = own.find(({ status }) => status.endsWith('Error') || status === 'Pending');
    if (odd !== undefined) throw new Error(`${file}: a mutant could not be run: ${odd.statusReason}`);
    const source = readFileSync(`${ROOT}/src/${file}`, 'utf8').split('\n');
    return {
      file,
      killed: count('Killed', 'Timeout'),
      timedOut: count('Timeout'),
      ignored: count('Ignored'),
      survived: own
        .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
        .map(({ location, replacement }) => ({
          file,
          line: oneLine(source[location.start.line - 1] ?? ''),
          code: oneLine(textAt(source, location)),
          becomes: oneLine(replacement),
        })),
    };
  });
}

interface Location {
  /** Lines and columns from 1. */
  start: { line: number; column: number };
  end: { line: number; column: number };
}

function textAt(lines: readonly string[], { start, end }: Location): string {
  const between = lines.slice(start.line - 1, end.line);
  const last = between.length - 1;
  between[last] = between[last]?.slice(0, end.column - 1) ?? '';
  between[0] = between[0]?.slice(start.column - 1) ?? '';
  return between.join('\n');
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
