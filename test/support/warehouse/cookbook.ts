// The recipes of docs/reference/cookbook.md: the question, the SQL, and the columns that are explained below it.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

export interface Recipe {
  number: number;
  question: string;
  sql: string;
  columns: string[];
}

const FILE = resolve(import.meta.dirname, '../../../docs/reference/cookbook.md');

/** The `days_ago` of the recipes are counted from `today`, if it is given: the clock of a database cannot be set. */
export function recipes(today?: string): Recipe[] {
  const sections = readFileSync(FILE, 'utf8')
    .split(/^## (?=\d)/m)
    .slice(1);
  return sections.map((section) => {
    const [, number = '', question = ''] = /^(\d+)\. (.+)$/m.exec(section) ?? [];
    const [, sql = ''] = /^```sql\n(.+?)^```$/ms.exec(section) ?? [];
    const columns = [...section.matchAll(/^- `(\w+)`: /gm)].map(([, name]) => name ?? '');
    return { number: Number(number), question, sql: today === undefined ? sql : datedSql(sql, today), columns };
  });
}

/** With literal days, as a BI tool sends them. */
export const datedSql = (sql: string, today: string): string =>
  sql.replace(/\(select day from bi_calendar where days_ago = (\d+)\)/g, (_, days: string) => {
    const day = new Date(Date.parse(today) - Number(days) * 86_400_000);
    return `'${day.toISOString().slice(0, 10)}'`;
  });
