// docs/explanation/reliability.md by its sections: each proof gives its own and leaves the others as they are. The
// table at the top is made of the sections' own summaries. Of several proofs at one time, their parent is the one that writes.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// A library that listens to the parent would keep a proof that is done from ending.
process.channel?.unref();

const FILE = join(import.meta.dirname, '../../../docs/explanation/reliability.md');
const BETWEEN = '\n## ';

/** One line of the table at the top. */
export interface Summary {
  /** The subject of the proof. */
  run: string;
  /** Its size: how many kills, records, calls. */
  many: string;
  /** The number of lost, doubled or wrong items. */
  lost: string;
}

export interface SectionDraft {
  title: string;
  body: string;
  summary: Summary;
}

/** Hands over the section of a proof, whether it was started by itself or by npm run prove. */
export function giveSection(title: string, body: string, summary: Summary): void {
  const draft: SectionDraft = { title, body, summary };
  if (process.send === undefined) writeSection(draft);
  else process.send(draft);
}

/** The section of that title is replaced, or added at the end; its summary opens it and stands in the table. */
export function writeSection({ title, body, summary }: SectionDraft): void {
  const { head, sections } = readPage();
  const section = `${title}\n${summaryLine(summary)}\n\n${body.trim()}\n`;
  const at = sections.findIndex((each) => each.startsWith(`${title}\n`));
  if (at < 0) sections.push(section);
  else sections[at] = section;
  writePage({ head, sections });
}

/** The paragraph above the table, or a line more to it. */
export function sayWhenRun(words: string, { isAdded = false } = {}): void {
  const { head, sections } = readPage();
  const [opening = '', before = ''] = head.split(PARAGRAPH);
  writePage({ head: [opening, isAdded ? `${before}\n${words}` : words].join(PARAGRAPH), sections });
}

const PARAGRAPH = '\n\n';

interface Page {
  /** Two paragraphs: about the page, and when it was made. */
  head: string;
  sections: string[];
}

function readPage(): Page {
  const [top = '', ...sections] = readFileSync(FILE, 'utf8').trimEnd().split(BETWEEN);
  return { head: top.split('\n| ', 1)[0]?.trimEnd() ?? '', sections };
}

function writePage({ head, sections }: Page): void {
  const top = `${head}\n\n${tableOf(sections)}`;
  writeFileSync(FILE, `${[top, ...sections.map((each) => each.trimEnd())].join(`\n${BETWEEN}`)}\n`);
}

const summaryLine = ({ run, many, lost }: Summary): string => `> ${run} · ${many} · ${lost}`;

const SUMMARY = /^(?<title>.+)\n> (?<run>.+) · (?<many>.+) · (?<lost>.+)\n/;

function tableOf(sections: readonly string[]): string {
  const rows = sections.flatMap((section) => {
    const { title, run, many, lost } = SUMMARY.exec(section)?.groups ?? {};
    return title === undefined ? [] : [`| [${run}](#${anchorOf(title)}) | ${many} | ${lost} |`];
  });
  return ['| proof | size | lost, doubled or wrong |', '|---|---|---|', ...rows].join('\n');
}

/** As code hosts make it of a heading. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replaceAll(' ', '-');
