// docs/how-to/scale-out.md shows the output of `roadbook plan`, docs/reference/postgresql.md the columns that large tables
// can be distributed by: they are compared with the command and the declarations.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tables } from '../../../src/warehouse/schema/catalog.ts';
import { makeWorkplace } from '../../support/process/workplace.ts';

const DOCS = resolve(import.meta.dirname, '../../../docs');
const FILE = join(DOCS, 'how-to/scale-out.md');
const page = readFileSync(FILE, 'utf8');

describe('the sizes of docs/how-to/scale-out.md', () => {
  it('match the output of the command (UPDATE_DOCS=1 rewrites them)', async () => {
    const place = makeWorkplace('');
    let fresh = page;
    for (const [block = '', command = ''] of page.matchAll(/```\n\$ npx roadbook ([^\n]+)\n.*?```/gs)) {
      const { code, stdout, stderr } = await place.run(command.split(' '));
      expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: '' });
      fresh = fresh.replace(block, `\`\`\`\n$ npx roadbook ${command}\n${stdout.trim()}\n\`\`\``);
    }
    place.remove();
    if (process.env.UPDATE_DOCS === '1') writeFileSync(FILE, fresh);
    else expect(page).toBe(fresh);
  });
});

describe('the distribution columns of docs/reference/postgresql.md', () => {
  const reference = readFileSync(join(DOCS, 'reference/postgresql.md'), 'utf8');
  const rows = [...reference.matchAll(/^\| `([a-z_]+)` \| `([a-z_, ]+)` \| `([a-z_]+)` \|$/gm)];

  it('are columns of the declared keys', () => {
    expect(rows.length).toBeGreaterThan(5);
    for (const [, name = '', key = '', column = ''] of rows) {
      const table = tables.find((each) => each.name === name);
      expect({ name, key: table?.key.join(', ') }).toEqual({ name, key });
      expect(table?.key).toContain(column);
    }
  });
});

describe('roadbook plan', () => {
  it('says plainly that the rate is too low for a fleet, in JSON too, and creates no warehouse', async () => {
    const place = makeWorkplace('service: { requests_per_minute: 60 }');
    const { code, stdout } = await place.run(['plan', '--vehicles', '1000', '--json']);
    const { plans, assumed } = JSON.parse(stdout);
    expect(code).toBe(0);
    expect(assumed).toMatchObject({ engine: 'sqlite', events_a_day: 200 });
    expect(plans).toMatchObject([{ vehicles: 1_000, requests_per_minute: 60, fits: false }]);
    expect(plans[0].jobs.map(({ name }: { name: string }) => name)).toContain('pull-events');
    expect(existsSync(join(place.dir, 'data'))).toBe(false);
    const wrong = await place.run(['plan', '--vehicles', '10,none']);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('whole number') });
    const unclear = await place.run(['plan', '--vehicles', '10,500']);
    expect(unclear).toMatchObject({ code: 2, stderr: expect.stringContaining('10500') });
    const both = await place.run(['plan', '--vehicles', '10, 500', '--json']);
    expect(JSON.parse(both.stdout).plans).toMatchObject([{ vehicles: 10 }, { vehicles: 500 }]);
    place.remove();
  });
});
