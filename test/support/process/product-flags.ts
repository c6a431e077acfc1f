// How the product is started where it is deployed: the environment and node's own flags, both as the first line of
// src/roadbook.js has them. Every test and benchmark of the real process takes them from here.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const COMMAND = resolve(import.meta.dirname, '../../../src/roadbook.js');
const FIRST_LINE = /^#!\/usr\/bin\/env -S (?<variables>(?:\w+=\S+ )*)node (?<flags>.+)\n/;

const { variables, flags } = FIRST_LINE.exec(readFileSync(COMMAND, 'utf8'))?.groups ?? {};
if (variables === undefined || flags === undefined) throw new Error(`no flags in the first line of ${COMMAND}`);

export const PRODUCT_FLAGS: readonly string[] = flags.split(' ');
export const PRODUCT_ENV: Readonly<Record<string, string>> = Object.fromEntries(
  variables
    .trimEnd()
    .split(' ')
    .map((variable) => variable.split('=')),
);
