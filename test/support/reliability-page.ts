// docs/reliability.md by its sections: each proof writes its own and leaves the others as they are. The table at the
// top is made of the sections' own summaries.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = join(import.meta.dirname, '../../docs/reliability.md');
const BETWEEN = '\n## ';

/** One line of the table at the top. */
export interface Summary {
  /** What was run. */
  run: string;
  /** How many of what. */
  many: string;
  /** What was lost, doubled or wrong, in figures. */
  lost: string;
}

/** The section of that title is replaced, or added at the end; its summary opens it and stands in the table. */
export function writeSection(title: string, body: string, summary?: Summary): void {
  const [head = '', ...sections] = readFileSync(FILE, 'utf8').trimEnd().split(BETWEEN);
  const opening = summary === undefined ? '' : `${summaryLine(summary)}\n\n`;
  const section = `${title}\n${opening}${body.trimEnd()}\n`;
  const at = sections.findIndex((each) => each.startsWith(`${title}\n`));
  if (at < 0) sections.push(section);
  else sections[at] = section;
  const top = `${head.split('\n| ', 1)[0]?.trimEnd()}\n\n${tableOf(sections)}`;
  writeFileSync(FILE, `${[top, ...sections.map((each) => each.trimEnd())].join(`\n${BETWEEN}`)}\n`);
}

const summaryLine = ({ run, many, lost }: Summary): string => `> ${run} · ${many} · ${lost}`;

const SUMMARY = /^(?<title>.+)\n> (?<run>.+) · (?<many>.+) · (?<lost>.+)\n/;

function tableOf(sections: readonly string[]): string {
  const rows = sections.flatMap((section) => {
    const { title, run, many, lost } = SUMMARY.exec(section)?.groups ?? {};
    return title === undefined ? [] : [`| [${run}](#${anchorOf(title)}) | ${many} | ${lost} |`];
  });
  return ['| what was run | how many | lost, doubled or wrong |', '|---|---|---|', ...rows].join('\n');
}

/** As code hosts make it of a heading. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replaceAll(' ', '-');
