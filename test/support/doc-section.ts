// Puts one section of a page anew, from its heading to the next one of the same rank, and leaves the others alone.
import { readFileSync, writeFileSync } from 'node:fs';

export function writeSection(file: string, heading: string, text: string): void {
  const page = readFileSync(file, 'utf8');
  const [head = '', ...sections] = page.split(/^(?=## )/m);
  const section = `## ${heading}\n${text.trim()}\n\n`;
  const index = sections.findIndex((each) => each.startsWith(`## ${heading}\n`));
  if (index < 0) sections.push(section);
  else sections[index] = section;
  writeFileSync(file, `${[head, ...sections].map((part) => part.trim()).join('\n\n')}\n`);
}
