// The pages of docs/reference that are made of declarations in the source.
import { resolve } from 'node:path';
import { configDeclarations, loadJobs } from '../../src/app/app.ts';
import { configJsonSchema } from '../../src/config/json-schema.ts';
import { commandsPage } from './commands-page.ts';
import { configPage } from './config-page.ts';
import { metricsPage } from './metrics-page.ts';

const inReference = (name: string): string => resolve(import.meta.dirname, '../../docs/reference', name);

export const REFERENCE_PAGES: readonly { file: string; text: () => Promise<string> }[] = [
  { file: inReference('commands.md'), text: commandsPage },
  { file: inReference('metrics.md'), text: async () => metricsPage() },
  {
    file: inReference('config.md'),
    text: async () => configPage(configJsonSchema(configDeclarations(await loadJobs()))),
  },
];
