// Text for a terminal. Texts of the ERP and the service may hold escape sequences that clear the screen, rename the window,
// hide a line or colour it: every control character but line end and tab is shown as its escape. In JSON the escape means
// the same character. Only the styles that the product itself gives to a word reach the terminal.
import { randomBytes } from 'node:crypto';
import { stripVTControlCharacters, styleText } from 'node:util';

const ESCAPE = '\u001b';

/** Follows the escape character of the product's own styles until they are printed. No text from outside can know it. */
const OWN_MARK = randomBytes(8).toString('hex');
const OWN_STYLE = ESCAPE + OWN_MARK;

export type Style = 'bold' | 'green' | 'yellow' | 'red';

/** For `terminalText` to print; of a text that has no style yet. Plain where the terminal has no styles. */
export const styled = (style: Style, text: string): string =>
  styleText(style, text).replaceAll(ESCAPE, OWN_STYLE);

export const terminalText = (text: string): string => harmlessText(text).replaceAll(OWN_STYLE, ESCAPE);

/** With the styles still as `styled` gives them. */
export const harmlessText = (text: string): string =>
  text
    .split(OWN_STYLE)
    .map((part) => part.replace(/[\p{Cc}\p{Bidi_Control}]/gu, shown))
    .join(OWN_STYLE);

const shown = (character: string): string =>
  character === '\n' || character === '\t'
    ? character
    : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Columns that a harmless text of one line takes. */
export const widthOf = (text: string): number =>
  stripVTControlCharacters(text.replaceAll(OWN_STYLE, ESCAPE)).length;
