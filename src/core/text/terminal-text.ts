// Text for a terminal. Texts of the ERP and the service may contain escape sequences that clear the screen, rename the
// window, hide or colour a line. Every control character except line end and tab is therefore printed as its escape, which
// in JSON means the same character. Only styles that Roadbook itself applies reach the terminal.
import { randomBytes } from 'node:crypto';
import { stripVTControlCharacters, styleText } from 'node:util';

const ESCAPE = '\u001b';

/** Marks the escape character of Roadbook's own styles until they are printed. Random, so that no outside text can forge it. */
const OWN_MARK = randomBytes(8).toString('hex');
const OWN_STYLE = ESCAPE + OWN_MARK;

/** Styles a plain text for `terminalText`. Without effect if the terminal has no styles. */
export const styled = (style: 'bold' | 'green' | 'yellow' | 'red', text: string): string =>
  styleText(style, text).replaceAll(ESCAPE, OWN_STYLE);

export const terminalText = (text: string): string => harmlessText(text).replaceAll(OWN_STYLE, ESCAPE);

/** Escapes control characters and keeps the styles of `styled`. */
export const harmlessText = (text: string): string =>
  text
    .split(OWN_STYLE)
    .map((part) => part.replace(/[\p{Cc}\p{Bidi_Control}]/gu, shown))
    .join(OWN_STYLE);

const shown = (character: string): string =>
  character === '\n' || character === '\t' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Columns that a one-line harmless text occupies. */
export const widthOf = (text: string): number => stripVTControlCharacters(text.replaceAll(OWN_STYLE, ESCAPE)).length;
