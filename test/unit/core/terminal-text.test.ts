// Printed text cannot control the terminal, and a long table is printed completely.
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { print, say } from '../../../src/cli/command.ts';
import { columnQuestion } from '../../../src/cli/init/columns.ts';
import { textTable } from '../../../src/cli/output/text-table.ts';
import { createLog } from '../../../src/core/log.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { styled, terminalText } from '../../../src/core/text/terminal-text.ts';

/** Clears the screen, sets the title, as CSI of one character, reverses the reading direction, rings the bell. */
const HOSTILE = 'a\u001b[2J\u001b]0;x\u0007\u009b2J\u202eb\rc';
const SHOWN = 'a\\u001b[2J\\u001b]0;x\\u0007\\u009b2J\\u202eb\\u000dc';

function written(to: 'stdout' | 'stderr', work: () => void): string {
  const write = vi.spyOn(process[to], 'write').mockReturnValue(true);
  onTestFinished(() => write.mockRestore());
  work();
  return write.mock.calls.map(([text]) => String(text)).join('');
}

describe('control characters', () => {
  it('are shown as escapes, whatever prints them', () => {
    expect(written('stdout', () => print(HOSTILE))).toBe(`${SHOWN}\n`);
    expect(written('stderr', () => say(HOSTILE))).toBe(`${SHOWN}\n`);
    const lines: string[] = [];
    const log = createLog({ level: 'info', redactor: createRedactor(), write: (line) => lines.push(line) });
    log.info({ code: HOSTILE }, 'read');
    expect(JSON.parse(lines.join('')).code).toBe(HOSTILE);
    expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Bidi_Control}](?!$)/u);
  });

  it('in the names of columns are shown as escapes by a question, and its answer means those columns', () => {
    const { input, columnsOf } = columnQuestion('point.name', ['A', HOSTILE], [HOSTILE]);
    expect(input).toMatchObject({ message: expect.stringContaining(`(A, ${SHOWN})`), default: SHOWN });
    expect([input.validate(`${SHOWN}, A`), columnsOf(`${SHOWN}, A`)]).toEqual([true, [HOSTILE, 'A']]);
    expect(input.validate('A, B')).toBe('There is no column B.');
  });

  it('keep their meaning in JSON', () => {
    expect(JSON.parse(terminalText(JSON.stringify({ a: HOSTILE }, null, 2)))).toEqual({ a: HOSTILE });
  });

  it('for colours reach the terminal where the product adds them, not where a text contains them', () => {
    vi.stubEnv('FORCE_COLOR', '1');
    onTestFinished(() => void vi.unstubAllEnvs());
    const table = textTable(['code', 'state'], [['\u001b[31mJosé 東京', styled('red', 'failed')]]);
    const [head, row] = written('stdout', () => print(table)).split('\n');
    expect(head).toBe(`\u001b[1mcode${' '.repeat(15)}state\u001b[22m`);
    expect(row).toBe('\\u001b[31mJosé 東京  \u001b[31mfailed\u001b[39m');
  });
});

describe('a table', () => {
  it('has one line for each row, whatever the cells contain', () => {
    expect(textTable(['code', 'state'], [[`P1\nP2\u001b[2K`, 'ok']])).toBe(
      'code            state\nP1 P2\\u001b[2K  ok',
    );
  });

  it('can have any number of rows', () => {
    const rows = Array.from({ length: 200_000 }, (_, i) => [i]);
    expect(textTable(['code'], rows).split('\n')).toHaveLength(200_001);
  });
});
