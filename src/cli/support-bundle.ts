// roadbook support-bundle: one archive for a ticket, without secrets, tax numbers, plates and e-mail addresses. A part
// that cannot be made is in the archive as its error, so that a broken installation gets a bundle too.
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { App } from '../app/app.ts';
import { publicConfig } from '../config/secrets.ts';
import { replaceFile } from '../core/atomic-file.ts';
import { asRoadbookError } from '../core/errors.ts';
import { redactedJson } from '../core/text/redaction.ts';
import { isoInstant } from '../core/time/clock.ts';
import { searchRuns } from '../warehouse/control/runs.ts';
import { defineCommand, print, usageError, withApp } from './command.ts';
import { checkApp } from './doctor.ts';
import { readStatus } from './status.ts';
import { VERSION } from './version.ts';

const MOST_RUNS = 300;

export const define = (command: Command): Command =>
  defineCommand<{ out?: string }>(command, {
    options: (command) => command.option('--out <file>', 'file to write (default roadbook-support-<time>.zip)'),
    action: withApp(
      async (app, _args, { json, out = defaultName(app.clock.now()) }) => {
        if (existsSync(out)) throw usageError(`${out} already exists`, 'name another file with --out');
        const files = await makeParts(app);
        const { zipSync, strToU8 } = await import('fflate');
        const packed = Object.entries(files).map(([name, text]) => [name, strToU8(text)]);
        const archive = zipSync(Object.fromEntries(packed));
        await replaceFile(out, archive);
        const names = Object.keys(files);
        print(json ? JSON.stringify({ file: out, bytes: archive.length, parts: names }, null, 2) : shown(out, names));
      },
      { tolerant: true },
    ),
  });

const defaultName = (nowMs: number): string => `roadbook-support-${isoInstant(nowMs).replaceAll(/[-:]|\..*/g, '')}.zip`;

const shown = (out: string, names: readonly string[]): string =>
  `${out}: ${names.join(', ')}\nSecrets, tax numbers, plates and e-mail addresses are removed. Look through it before you send it.`;

async function makeParts(app: App): Promise<Record<string, string>> {
  const parts: Record<string, () => Promise<unknown>> = {
    'versions.json': async () => versions(app),
    'config.json': async () => effectiveConfig(app),
    'status.json': async () => (await readStatus(app)).document,
    'doctor.json': () => checkApp(app),
    'runs.json': async () => {
      const jobs = app.jobs.map(({ name }) => name);
      return searchRuns(await app.warehouse(), { jobs, limit: MOST_RUNS });
    },
    'metrics.txt': () => metricsText(app),
  };
  const texts: Record<string, string> = {};
  for (const [name, make] of Object.entries(parts)) {
    const content = await make().catch((thrown) => ({ error: asRoadbookError(thrown).message }));
    const { redact } = app.redactor;
    texts[name] = withoutPersons(typeof content === 'string' ? redact(content) : redactedJson(content, redact, 2));
  }
  return texts;
}

const versions = ({ loaded: { config } }: App) => ({
  roadbook: VERSION,
  node: process.version,
  libraries: process.versions,
  platform: `${process.platform} ${process.arch}`,
  warehouse: config.warehouse.engine,
});

/** The account is left out: its user names may be tax numbers of a company or a person. */
function effectiveConfig({ loaded: { file, config, error } }: App) {
  const { service, ...others } = publicConfig(config);
  const hidden = { username: '[redacted]', parentUsername: '[redacted]' };
  return { file, error: error?.message ?? null, config: { ...others, service: { ...service, ...hidden } } };
}

async function metricsText(app: App): Promise<string> {
  const { createMetrics } = await import('../status/metrics/metrics.ts');
  const engine = await app.warehouse();
  const running = () => app.loaded;
  return createMetrics({ ...app, engine, version: VERSION, running }, () => readStatus(app)).text();
}

/** Licence plates of Brazil, with or without a dash, old and new. */
const PLATE = /\b[A-Z]{3}-?\d[A-Z\d]\d{2}\b/gi;
const WORD = /[^\s"',;:<>()]+/g;

/** Messages of the service may repeat what a person wrote. */
const withoutPersons = (text: string): string =>
  text.replaceAll(PLATE, '[plate]').replaceAll(WORD, (word) => (word.includes('@') ? '[e-mail]' : word));
