// Text for a terminal. Texts of the ERP and the service may hold escape sequences that clear the screen, rename the window
// or hide a line: every control character but line end and tab is shown as its escape. In JSON the escape means the same
// character.

/** As styleText writes them for the product: bold, red, green, yellow, and their ends. */
const OWN_STYLE = /^\[(?:1|22|31|32|33|39)m/;

const ESCAPE = '\u001b';

export const terminalText = (text: string): string =>
  text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, (character, at: number) => {
    const isOwn = character === ESCAPE && OWN_STYLE.test(text.slice(at + 1, at + 6));
    if (character === '\n' || character === '\t' || isOwn) return character;
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
