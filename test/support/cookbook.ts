// The recipes of docs/reference/cookbook.md: the question, the SQL, and the columns that are explained below it.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

export interface Recipe {
  number: number;
  question: string;
  sql: string;
  columns: string[];
}

const FILE = resolve(import.meta.dirname, '../../docs/reference/cookbook.md');

export function recipes(): Recipe[] {
  const sections = readFileSync(FILE, 'utf8')
    .split(/^## (?=\d)/m)
    .slice(1);
  return sections.map((section) => {
    const [, number = '', question = ''] = /^(\d+)\. (.+)$/m.exec(section) ?? [];
    const [, sql = ''] = /^```sql\n(.+?)^```$/ms.exec(section) ?? [];
    const columns = [...section.matchAll(/^- `(\w+)`: /gm)].map(([, name]) => name ?? '');
    return { number: Number(number), question, sql, columns };
  });
}
