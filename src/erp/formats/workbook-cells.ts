// Unpacks a workbook and writes what its reader would lose as texts: errors of formulas, formulas without a result, and
// dates without a time. The reader would give empty cells, and midnight.
import { DAY_MS } from '../../core/time/durations.ts';
import { NO_RESULT } from '../rows/cell-values.ts';
import { Unreadable } from './text-decoding.ts';

/** Limit for all unpacked parts of a workbook, in bytes; about two million cells. */
const LARGEST_UNPACKED = 64 * 1024 * 1024;

/** The workbook without its pictures. Bytes that are no archive stay as they are: the workbook reader reports the reason. */
export async function withTextCells(bytes: Buffer): Promise<Uint8Array> {
  const { unzipSync, zipSync } = await import('fflate');
  let unpacked = 0;
  // The sizes are listed in the archive: a few kilobytes may unpack to gigabytes of spaces. Pictures count too, because the
  // workbook reader unpacks them, with this package. It allocates the listed size, so a part cannot exceed it.
  const filter = ({ name, originalSize }: { name: string; originalSize: number }): boolean => {
    unpacked += originalSize;
    if (unpacked > LARGEST_UNPACKED) throw new Unreadable('unpacks to more than 64 MB; split it, or write it as CSV');
    return /\.xml(?:\.rels)?$/.test(name);
  };
  try {
    const parts = unzipSync(bytes, { filter });
    return rewriteCells(parts) ? zipSync(parts, { level: 0 }) : bytes;
  } catch (error) {
    if (error instanceof Unreadable) throw error;
    return bytes;
  }
}

/** Whether a cell was rewritten. */
function rewriteCells(parts: Record<string, Uint8Array>): boolean {
  const xmlOf = (part: Uint8Array): string => Buffer.from(part.buffer, part.byteOffset, part.length).toString('latin1');
  const named = (name: string): string => xmlOf(parts[`xl/${name}`] ?? new Uint8Array());
  const dayStyles = dayStylesIn(named('styles.xml'));
  const firstDay = /\bdate1904=["'](?:1|true)/.test(named('workbook.xml'))
    ? Date.UTC(1904, 0, 1)
    : Date.UTC(1899, 11, 30);
  let isRewritten = false;
  for (const [name, part] of Object.entries(parts)) {
    const xml = xmlOf(part);
    const rewritten = withDays(
      xml.replace(ERROR_CELL, '$1"str"').replace(FORMULA_CELL, withoutResult),
      dayStyles,
      firstDay,
    );
    if (rewritten === xml) continue;
    isRewritten = true;
    parts[name] = Buffer.from(rewritten, 'latin1');
  }
  return isRewritten;
}

/** A cell with the error of a formula. */
const ERROR_CELL = /(<(?:\w{1,9}:)?c\s[^<>]*?\bt=)(?:"e"|'e')/g;

/** A cell with a formula, and with an empty result or none. */
const FORMULA_CELL =
  /<((?:\w{1,9}:)?)c(\s[^<>]*)>(<(?:\w{1,9}:)?f\b(?:[^<>]*\/>|[^<>]*>[^<]*<\/(?:\w{1,9}:)?f>))(<(?:\w{1,9}:)?v(?:\s?\/>|><\/(?:\w{1,9}:)?v>))?(?=<\/(?:\w{1,9}:)?c>)/g;

/** A program that does not calculate saves a formula without its result. The result of a text formula may be empty. */
const withoutResult = (cell: string, prefix: string, attributes: string, formula: string, empty?: string): string =>
  empty !== undefined && attributeOf(attributes, TYPE) === 'str'
    ? cell
    : textCell(prefix, attributes, formula, NO_RESULT);

/** A cell with a whole number, such as that of a day from 1902. Some programs write every number with a fraction. */
const WHOLE_CELL =
  /<((?:\w{1,9}:)?)c(\s[^<>]*)>(<(?:\w{1,9}:)?f\b(?:[^<>]*\/>|[^<>]*>[^<]*<\/(?:\w{1,9}:)?f>))?<(?:\w{1,9}:)?v>(\d{4,6})(?:\.0+)?<\/(?:\w{1,9}:)?v>/g;

const withDays = (xml: string, dayStyles: ReadonlySet<string>, firstDay: number): string =>
  dayStyles.size === 0
    ? xml
    : xml.replace(WHOLE_CELL, (cell, prefix: string, attributes: string, formula: string | undefined, days: string) => {
        const isNumber = ['', 'n'].includes(attributeOf(attributes, TYPE));
        if (!isNumber || !dayStyles.has(attributeOf(attributes, STYLE))) return cell;
        const day = new Date(firstDay + Number(days) * DAY_MS).toISOString().slice(0, 10);
        return textCell(prefix, attributes, formula ?? '', day);
      });

/** Without the end of the cell. */
const textCell = (prefix: string, attributes: string, formula: string, text: string): string =>
  `<${prefix}c${attributes.replace(/\st=(?:"\w*"|'\w*')/, '')} t="str">${formula}<${prefix}v>${text}</${prefix}v>`;

/** Attributes of cells, styles and formats. */
const TYPE = /\st=["'](\w+)/;
const STYLE = /\ss=["'](\d+)/;
const FORMAT = /\snumFmtId=["'](\d+)/;
const FORMAT_CODE = /\sformatCode=(?:"([^"]*)|'([^']*))/;

const attributeOf = (attributes: string, pattern: RegExp): string => {
  const [, double, single] = pattern.exec(attributes) ?? [];
  return double ?? single ?? '';
};

/** Formats of Excel itself that show a date without a time. */
const DAY_FORMATS = ['14', '15', '16', '17'];

/** The numbers of the styles that show a date without a time. */
function dayStylesIn(styles: string): Set<string> {
  const formats = new Set(DAY_FORMATS);
  for (const [, attributes = ''] of within(styles, 'numFmts').matchAll(/<(?:\w{1,9}:)?numFmt\b([^<>]*)>/g))
    if (showsDay(attributeOf(attributes, FORMAT_CODE))) formats.add(attributeOf(attributes, FORMAT));
  const used = [...within(styles, 'cellXfs').matchAll(/<(?:\w{1,9}:)?xf\b([^<>]*)>/g)];
  return new Set(
    used.flatMap(([, attributes = ''], i) => (formats.has(attributeOf(attributes, FORMAT)) ? [String(i)] : [])),
  );
}

/** The content of the element that occurs once. Conditional formats have formats of their own, with numbers of their own. */
const within = (xml: string, name: string): string => xml.slice(xml.indexOf(name), xml.lastIndexOf(name));

/** Whether the format has a day or a year, and nothing else but months: not even a letter that is not known here. */
function showsDay(format: string): boolean {
  const letters = format.replace(/&quot;[^&]{0,99}&quot;|\\.|\[\$[^\]]{0,20}\]/g, '');
  return /^[dmy/., ;@-]+$/i.test(letters) && /[dy]/i.test(letters);
}
