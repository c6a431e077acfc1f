// npm run docs: writes the pages of docs/reference that are made of declarations.
import { writeFileSync } from 'node:fs';
import { REFERENCE_PAGES } from './reference-pages.ts';

for (const { file, text } of REFERENCE_PAGES) writeFileSync(file, await text());
