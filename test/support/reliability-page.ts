// docs/reliability.md by its sections: each proof writes its own and leaves the others as they are.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = join(import.meta.dirname, '../../docs/reliability.md');
const BETWEEN = '\n## ';

/** The section of that title is replaced, or added at the end. */
export function writeSection(title: string, body: string): void {
  const [head = '', ...sections] = readFileSync(FILE, 'utf8').trimEnd().split(BETWEEN);
  const section = `${title}\n${body.trimEnd()}\n`;
  const at = sections.findIndex((each) => each.startsWith(`${title}\n`));
  if (at < 0) sections.push(section);
  else sections[at] = section;
  writeFileSync(
    FILE,
    `${[head.trimEnd(), ...sections.map((each) => each.trimEnd())].join(`\n${BETWEEN}`)}\n`,
  );
}
