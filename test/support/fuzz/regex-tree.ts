// A regular expression as a tree, as far as needed to make texts that match it: the part before each repetition, and the
// repeated part. Anchors match no text; a lookahead or lookbehind is no part of the text, but may be slow too.

export type Part =
  /** One character: some that fit, never none. */
  | { is: 'letter'; fits: readonly string[] }
  | { is: 'row'; parts: readonly Part[] }
  | { is: 'choice'; of: readonly Part[] }
  | { is: 'repeat'; part: Part; least: number; most: number }
  | { is: 'lookaround'; part: Part };

/** Characters that are tried on every class, beside those that the expression names itself. */
const TRIED = ['a', 'Z', '0', '_', '-', ' ', '\n', '.', '"', "'", '\\', '/', ',', ':', '@', 'é', '\u0001'];
const MOST_FITS = 8;

const NOTHING: Part = { is: 'row', parts: [] };
/** Sticky, so that each is read from where the last one ended. */
const CLASS = /\[(?:\\.|[^\]\\])*\]/y;
const ESCAPE = /\\(?:[ux]\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[pP]\{[^}]*\}|c[A-Za-z]|.)/suy;
const BACK_REFERENCE = /\\(?:[1-9]\d*|k<[^>]*>)/y;
const OPENED = /\((?:\?(?:(?<lookaround><?[=!])|<[^>]*>|[a-z-]*:))?/y;
const COUNT = /(?:(?<sign>[*+?])|\{(?<least>\d+)(?<comma>,)?(?<most>\d+)?\})\??/y;

export function treeOf(source: string, flags: string): Part {
  let at = 0;
  const named = source.replace(/\\[a-zA-Z]/g, '').match(/[^\\^$.*+?()[\]{}|]/g) ?? [];
  const letters = [...new Set([...named.slice(0, 40), ...TRIED])];

  const taken = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };

  function fitting(one: string): Part {
    const expression = new RegExp(`^${one}$`, flags.replace(/[gy]/g, ''));
    const fits = letters.filter((letter) => expression.test(letter));
    for (let code = 0; fits.length === 0 && code < 0xff_ff; code++) {
      if (expression.test(String.fromCharCode(code))) fits.push(String.fromCharCode(code));
    }
    return { is: 'letter', fits: fits.slice(0, MOST_FITS) };
  }

  function choice(): Part {
    const of: Part[] = [row()];
    while (source[at] === '|') {
      at++;
      of.push(row());
    }
    return of.length === 1 ? (of[0] as Part) : { is: 'choice', of };
  }

  function row(): Part {
    const parts: Part[] = [];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') parts.push(counted(single()));
    return { is: 'row', parts };
  }

  function single(): Part {
    const opened = taken(OPENED);
    if (opened !== null) {
      const part = choice();
      if (source[at++] !== ')') throw new Error(`cannot read /${source}/`);
      return opened.groups?.lookaround === undefined ? part : { is: 'lookaround', part };
    }
    if (taken(BACK_REFERENCE) !== null) return NOTHING;
    const one = (taken(CLASS) ?? taken(ESCAPE))?.[0] ?? (source[at++] as string);
    return ['^', '$', '\\b', '\\B'].includes(one) ? NOTHING : fitting(one);
  }

  function counted(part: Part): Part {
    const groups = taken(COUNT)?.groups;
    if (groups === undefined) return part;
    const { sign, least = '0', comma, most } = groups;
    if (sign !== undefined)
      return {
        is: 'repeat',
        part,
        least: sign === '+' ? 1 : 0,
        most: sign === '?' ? 1 : Number.POSITIVE_INFINITY,
      };
    const top = most ?? (comma === undefined ? least : Number.POSITIVE_INFINITY);
    return { is: 'repeat', part, least: Number(least), most: Number(top) };
  }

  const tree = choice();
  if (at < source.length) throw new Error(`cannot read /${source}/`);
  return tree;
}

/** A text that fits: the n-th letter and the n-th branch everywhere, and with or without what may be left out. */
export function textOf(part: Part, nth: number, isWhole = false): string {
  switch (part.is) {
    case 'letter':
      return part.fits[nth % part.fits.length] as string;
    case 'row':
      return part.parts.map((each) => textOf(each, nth, isWhole)).join('');
    case 'choice':
      return textOf(part.of[nth % part.of.length] as Part, nth, isWhole);
    case 'repeat':
      return textOf(part.part, nth, isWhole).repeat(Math.max(part.least, isWhole ? Math.min(part.most, 1) : 0));
    case 'lookaround':
      return '';
  }
}

export interface Repetition {
  /** Texts that fit what stands before it. */
  before: string[];
  part: Part;
  least: number;
}

/** Every part that may be repeated often, with the text that has to stand before it. */
export function repetitionsIn(part: Part, before: readonly string[] = ['']): Repetition[] {
  switch (part.is) {
    case 'letter':
      return [];
    case 'lookaround':
      return repetitionsIn(part.part, before);
    case 'choice':
      return part.of.flatMap((each) => repetitionsIn(each, before));
    case 'row': {
      let reached = [...before];
      return part.parts.flatMap((each) => {
        const found = repetitionsIn(each, reached);
        reached = [...new Set(reached.flatMap((text) => [text + textOf(each, 0), text + textOf(each, 1)]))];
        reached = reached.slice(0, 2);
        return found;
      });
    }
    case 'repeat': {
      const inner = repetitionsIn(part.part, before);
      const own = { before: [...before], part: part.part, least: part.least };
      return part.most > OFTEN ? [own, ...inner] : inner;
    }
  }
}

/** A part that may stand fewer times costs no more than that. */
const OFTEN = 20;
