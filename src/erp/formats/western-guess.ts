// Decides whether bytes that are not UTF-8 are Windows-1252. Programs of MS-DOS write CP850 instead, in which the bytes of Ç, é,
// â and à are Ã, Ú, Ô and Ó: a wrong guess would send wrong names. So a text counts as Windows-1252 only if a word of it proves
// that, and none speaks against it.

/** The bytes from 128 in CP850. */
const IBM850 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0';
const WINDOWS_1252 = new TextDecoder('windows-1252').decode(Uint8Array.from(IBM850, (_, i) => i + 128));

/** What the bytes of a text in Windows-1252 are in CP850. */
export const asIbm850 = (western: string): string =>
  western.replace(/\P{ASCII}/gu, (character) => IBM850[WINDOWS_1252.indexOf(character)] ?? character);

/**
 * Speaks against Windows-1252: a character that no Portuguese text has, or that is a common letter in CP850 (€ “ … §); a
 * small letter in a word of capitals; Ç where Portuguese has none; à within a word.
 */
const AGAINST =
  /[^\t\n\f\r\x20-\x7eÀÁÂÃÇÉÊÍÑÓÔÕÚÜàáâãçéêíñóôõúü°ºª–—‘’•]|(?<=[A-ZÇ]{2})[âé]|[âé](?=[A-ZÇ])|Ç(?=[^AOUÀÁÂÃÓÔÕÚaouáâãóôõú])|(?<=[A-Za-zÇ])à|à(?=[^\Wsq])/;

/** Proves Windows-1252: in CP850 these would be a capital, a sign or a line between the letters of a word. */
const PROOF =
  /(?<=[A-Za-z])[áâãçéêíñóôõúü](?=[a-z])|(?<=[a-z])[áâãçéêíóôú]|(?<=[A-ZÇ])[ÀÁÂÃÉÊÍÓÔÕÚ]|[ÀÁÂÃÉÊÍÓÔÕÚ](?=[A-Za-z])|Ç(?=[AU])|(?<=[A-Za-z\d])[ºª°]/;

/** Longer runs of characters without a space are cut. */
const LONGEST_RUN = 10_000;
const LONGEST_WORD = 30;

/** Checks a text in Windows-1252 as it streams. A doubt is the word in question as both encodings read it, or empty. */
export function westernGuess() {
  /** May be the beginning of a word. */
  let rest = '';
  let isProven = false;
  let first: string | undefined;
  const check = (text: string): string | undefined => {
    isProven ||= PROOF.test(text);
    const at = text.search(AGAINST);
    if (at >= 0) return bothDecodings(text, at);
    const letter = first === undefined ? text.search(/\P{ASCII}/u) : -1;
    if (letter >= 0) first = bothDecodings(text, letter);
    return undefined;
  };
  return {
    /** The doubt that a further part raises. */
    read(part: string): string | undefined {
      const text = rest + part;
      const space = Math.max(text.lastIndexOf(' '), text.lastIndexOf('\n'));
      const end = space < 0 && text.length > LONGEST_RUN ? text.length : space + 1;
      rest = text.slice(end);
      return check(text.slice(0, end));
    },
    /** The doubt that is left after the last part. */
    end: (): string | undefined => check(`${rest}\n`) ?? (isProven ? undefined : first),
  };
}

/** The word at an index; empty if it is no word in CP850 either. */
function bothDecodings(text: string, index: number): string {
  const from = Math.max(0, index - LONGEST_WORD);
  const around = text.slice(from, index + LONGEST_WORD);
  const dos = asIbm850(around);
  const start = dos.slice(0, index - from).search(/[\p{L}\p{N}]{0,30}$/u);
  const [word = ''] = /^[\p{L}\p{N}]*/u.exec(dos.slice(start)) ?? [];
  if (start + word.length <= index - from) return '';
  return `"${around.slice(start, start + word.length)}" (windows-1252) or "${word}" (ibm850)`;
}
