// The tutorial is run as printed: each `sh` block in a fresh folder, its output compared with the `text` block below it.
// A block marked `terminal=` keeps running, as in the reader's first terminal, until the next one begins. A block marked
// `repeat` is repeated until its output is as printed, as the page asks the reader to.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PRODUCT_FLAGS } from '../../support/process/product-flags.ts';
import { MAIN } from '../../support/process/workplace.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const page = readFileSync(join(ROOT, 'docs/tutorial/README.md'), 'utf8');
const BLOCK = /```sh(?: (?<mark>repeat|terminal=\w+))?\n(?<script>.*?)\n```\n\n```text\n(?<output>.*?)\n```/gs;
const blocks = [...page.matchAll(BLOCK)].map(({ groups = {} }) => ({
  script: groups.script ?? '',
  output: groups.output ?? '',
  keepsRunning: groups.mark?.startsWith('terminal') ?? false,
  isRepeated: groups.mark === 'repeat',
}));
/** How long a block is repeated at most. */
const PATIENCE_MS = 30_000;

const dir = mkdtempSync(join(tmpdir(), 'roadbook-tutorial-'));
/** The ports of the page; a test uses free ones. */
let sandboxPort = 0;
let inFirstTerminal: ChildProcess | undefined;

beforeAll(async () => {
  sandboxPort = await freePort();
  mkdirSync(join(dir, 'bin'));
  mkdirSync(join(dir, 'config'));
  const shipped = readFileSync(join(ROOT, 'config/roadbook.yaml'), 'utf8');
  writeFileSync(join(dir, 'config/roadbook.yaml'), shipped.replace('port: 4780', 'port: 0'));
  tool('npx', `shift; exec '${process.execPath}' ${PRODUCT_FLAGS.join(' ')} '${MAIN}' "$@"`);
  // The output of the sqlite3 shell, which not every machine has.
  writeFileSync(join(dir, 'bin/shell.mjs'), SHELL);
  tool('sqlite3', `exec '${process.execPath}' --disable-warning=ExperimentalWarning '${dir}/bin/shell.mjs' "$@"`);
});

afterAll(async () => {
  await closeFirstTerminal();
  rmSync(dir, { recursive: true, force: true });
});

describe('the tutorial', () => {
  it('has an output below each command', () => {
    expect(blocks.length).toBeGreaterThan(9);
    expect(blocks).toHaveLength(page.match(/^```sh/gm)?.length ?? 0);
  });

  it.each(blocks)('$script', { timeout: 60_000 }, async ({ script, output, keepsRunning, isRepeated }) => {
    const expected = patternOf(output);
    if (keepsRunning) {
      await closeFirstTerminal();
      inFirstTerminal = start(script);
      return expect(await printedUntil(inFirstTerminal, expected)).toMatch(expected);
    }
    const beganAt = performance.now();
    let printed = '';
    do printed = await printedUntil(start(script));
    while (isRepeated && !expected.test(printed) && performance.now() - beganAt < PATIENCE_MS);
    expect(printed).toMatch(expected);
  });
});

function tool(name: string, script: string): void {
  const file = join(dir, 'bin', name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

/** A shell with the tools of the reader; what it prints on either stream is one text, as in a terminal. */
function start(script: string): ChildProcess {
  const asHere = script
    .replaceAll('4781', String(sandboxPort))
    .replace(/(?<=roadbook sandbox)/, ` --port ${sandboxPort}`)
    // The last command replaces the shell, so that it receives the signals.
    .replace(/^npx roadbook (start|sandbox)/, 'exec $&');
  return spawn('bash', ['-ec', `exec 2>&1\n${asHere}`], {
    cwd: dir,
    env: { PATH: [join(dir, 'bin'), process.env.PATH].join(delimiter), NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** The output of a process to its end, or until it is as expected. */
async function printedUntil(child: ChildProcess, expected?: RegExp): Promise<string> {
  let printed = '';
  child.stdout?.setEncoding('utf8');
  for await (const text of child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    printed = evenSpaces(printed + text);
    if (expected?.test(printed)) break;
  }
  child.stdout?.resume();
  return printed;
}

async function closeFirstTerminal(): Promise<void> {
  if (inFirstTerminal === undefined) return;
  const ended = once(inFirstTerminal, 'exit');
  inFirstTerminal.kill('SIGINT');
  expect(await ended).toEqual([0, null]);
  inFirstTerminal = undefined;
}

/** `…` stands for anything in a line, and on a line of its own for any lines. Widths of columns do not count. */
function patternOf(output: string): RegExp {
  const lines = output.replaceAll('4781', String(sandboxPort)).split('\n');
  const patterns = lines.map((line) =>
    line === '…' ? '(?:.*\n)*?' : `${evenSpaces(line).split('…').map(RegExp.escape).join('.*')}\n`,
  );
  return new RegExp(`^${patterns.join('')}$`);
}

const evenSpaces = (text: string): string => text.replaceAll(/(?<=\S) {2,}/g, '  ');

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

const SHELL = `import { DatabaseSync } from 'node:sqlite';
const [file, sql] = process.argv.slice(2);
const rows = new DatabaseSync(file, { readOnly: true }).prepare(sql).all();
for (const row of rows) console.log(Object.values(row).map((value) => value ?? '').join('|'));
`;
