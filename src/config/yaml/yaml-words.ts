// YAML syntax errors in plain words, by error code. The parser's own messages are never shown: they may quote the text and
// with it a secret.
import type { ErrorCode } from 'yaml';
import type { OffsetIssue } from '../faults.ts';

type Words = Required<Pick<OffsetIssue, 'message' | 'hint'>>;

export const INDENT: Words = {
  message: 'the indentation is wrong, or a bracket is not closed',
  hint: 'close the bracket; indent with spaces, the same number for every key of one section',
};

const STRUCTURE: Words = {
  message: 'this is not valid YAML',
  hint: 'check the line for a missing `:`, quote, comma or bracket; put texts with special characters in quotes',
};

const ANCHOR: Words = {
  message: 'an anchor, alias or tag is not written correctly',
  hint: 'write `&name` before one value and `*name` alone where it is used',
};

const WORDS: Partial<Record<ErrorCode, Words>> = {
  TAB_AS_INDENT: { message: 'a tab is used as indentation', hint: 'use spaces instead of tabs' },
  BAD_INDENT: INDENT,
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'two `:` on one line, or wrong indentation',
    hint: 'put a text that contains `: ` in quotes, or start a new line',
  },
  MULTILINE_IMPLICIT_KEY: {
    message: 'a key has no `:` on its line',
    hint: 'write `key: value`, with a space after the colon',
  },
  MISSING_CHAR: {
    message: 'a quote, bracket, comma or colon is missing',
    hint: 'add the missing character; write `key: value` with a space after the colon',
  },
  BAD_SCALAR_START: { message: 'a text cannot start with this character', hint: 'put the text in quotes' },
  BAD_DQ_ESCAPE: {
    message: 'an unknown `\\` sequence in double quotes',
    hint: 'use single quotes, or write `\\\\` for one backslash',
  },
  MULTIPLE_DOCS: { message: 'a second document starts here', hint: 'remove the `---` line' },
  BAD_DIRECTIVE: { message: 'an unknown `%` directive', hint: 'remove the line' },
  TAG_RESOLVE_FAILED: { message: 'an unknown `!` tag', hint: 'remove the tag, or put the text in quotes' },
  RESOURCE_EXHAUSTION: { message: 'nested too deeply', hint: 'use only the sections of the example file' },
  KEY_OVER_1024_CHARS: {
    message: 'a key is too long',
    hint: 'write `key: value`, with a space after the colon',
  },
  ALIAS_PROPS: ANCHOR,
  BAD_ALIAS: ANCHOR,
  BAD_PROP_ORDER: ANCHOR,
  MULTIPLE_ANCHORS: ANCHOR,
  MULTIPLE_TAGS: ANCHOR,
};

/** `opening` is the bracket or quote itself. */
export const notClosed = (opening: string): Words => ({
  message: `this \`${opening}\` is not closed`,
  hint: 'close it on the same line, or remove it; everything after it is misread until then',
});

export const yamlWords = (code: ErrorCode): Words => WORDS[code] ?? STRUCTURE;
