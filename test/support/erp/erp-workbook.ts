// A minimal XLSX workbook for tests: one sheet, texts, numbers, dates, errors, formulas and merged cells.
import { crc32, deflateRawSync } from 'node:zlib';

/** A date shows its time, unless it is in a format of its own. A formula has a result or none. */
export type Cell =
  | string
  | number
  | boolean
  | Date
  | { date: Date; format: 'date' | 'own date' | 'own date-time' }
  | { error: string }
  | { formula: string; type?: 'str'; result?: string }
  | null;

const DAY_MS = 86_400_000;
const EXCEL_EPOCH = Date.UTC(1899, 11, 30);

export function workbook(rows: readonly (readonly Cell[])[], merges: readonly string[] = []): Buffer {
  const sheet = rows
    .map(
      (cells, r) => `<row r="${r + 1}">${cells.map((cell, c) => cellXml(cell, `${column(c)}${r + 1}`)).join('')}</row>`,
    )
    .join('');
  const merged =
    merges.length === 0
      ? ''
      : `<mergeCells count="${merges.length}">${merges.map((ref) => `<mergeCell ref="${ref}"/>`).join('')}</mergeCells>`;
  return workbookOf(`<sheetData>${sheet}</sheetData>${merged}`);
}

const STYLES =
  '<numFmts count="2"><numFmt numFmtId="164" formatCode="[$-416]d&quot; de &quot;mmmm\\ yyyy;@"/><numFmt numFmtId="165" formatCode="dd/mm/yyyy\\ hh:mm"/></numFmts><cellStyleXfs count="1"><xf numFmtId="0"/></cellStyleXfs><cellXfs count="5"><xf numFmtId="0"/><xf numFmtId="22" applyNumberFormat="1"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs>';

/** With parts that are given as XML. */
export function workbookOf(sheet: string, { properties = '', styles = STYLES } = {}): Buffer {
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const packaged = 'http://schemas.openxmlformats.org/package/2006';
  return zip({
    '[Content_Types].xml': `<Types xmlns="${packaged}/content-types"><Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>`,
    '_rels/.rels': `<Relationships xmlns="${packaged}/relationships"><Relationship Id="rId1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${office}">${properties}<sheets><sheet name="Plans" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${packaged}/relationships"><Relationship Id="rId1" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${office}/styles" Target="styles.xml"/></Relationships>`,
    'xl/styles.xml': `<styleSheet xmlns="${main}">${styles}</styleSheet>`,
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="${main}">${sheet}</worksheet>`,
  });
}

const column = (index: number): string =>
  (index < 26 ? '' : String.fromCharCode(64 + Math.floor(index / 26))) + String.fromCharCode(65 + (index % 26));

/** By number of style. */
const DATE_FORMATS = ['date-time', 'date', 'own date', 'own date-time'];

const dateXml = (date: Date, ref: string, format = 'date-time'): string =>
  `<c r="${ref}" s="${1 + DATE_FORMATS.indexOf(format)}"><v>${(date.getTime() - EXCEL_EPOCH) / DAY_MS}</v></c>`;

function cellXml(cell: Cell, ref: string): string {
  if (cell === null) return '';
  if (cell instanceof Date) return dateXml(cell, ref);
  if (typeof cell === 'number') return `<c r="${ref}"><v>${cell}</v></c>`;
  if (typeof cell === 'boolean') return `<c r="${ref}" t="b"><v>${cell ? 1 : 0}</v></c>`;
  if (typeof cell === 'object' && 'date' in cell) return dateXml(cell.date, ref, cell.format);
  if (typeof cell === 'object' && 'formula' in cell) {
    const { formula, type, result } = cell;
    const value = result === undefined ? '' : `<v>${result}</v>`;
    return `<c r="${ref}"${type === undefined ? '' : ` t="${type}"`}><f>${formula}</f>${value}</c>`;
  }
  if (typeof cell === 'object') return `<c r="${ref}" t="e"><f>1/0</f><v>${cell.error}</v></c>`;
  const text = cell.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<c r="${ref}" t="inlineStr"><is><t>${text}</t></is></c>`;
}

function zip(files: Record<string, string>): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const [path, text] of Object.entries(files)) {
    const name = Buffer.from(path);
    const body = Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>${text}`);
    const packed = deflateRawSync(body);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(body), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(body.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, name, packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    centrals.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, tail, name]));
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(centrals);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(centrals.length, 8);
  end.writeUInt16LE(centrals.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, central, end]);
}
