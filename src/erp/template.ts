// Sample files of each kind, to start a feed from: the usual columns and one example. The places are public squares and the
// numbers are made up: no personal data.
import { Temporal } from 'temporal-polyfill';
import type { Json } from '../core/json.ts';
import type { FeedKind } from './feed-kinds.ts';
import { spreadsheetText } from './files/result.ts';
import type { Language } from './files/result-words.ts';
import { labelOf } from './rows/column-names.ts';
import { prepareMapping } from './rows/mapping.ts';
import { readTable } from './rows/row-reader.ts';

export const TEMPLATE_FORMATS = ['csv', 'xlsx', 'json'] as const;
export type TemplateFormat = (typeof TEMPLATE_FORMATS)[number];

export interface TemplateOptions {
  kind: FeedKind;
  format: TemplateFormat;
  language: Language;
  /** The example is for the day after. */
  nowMs: number;
  zone: string;
}

type Cell = string | number;
type Row = Readonly<Record<string, Cell>>;

function exampleRows(kind: FeedKind, day: string): Row[] {
  const [start, end] = [`${day} 08:00`, `${day} 12:00`];
  switch (kind) {
    case 'route_plans': {
      const plan = {
        'plan.external_code': 'V-1001',
        'plan.date_time_start': start,
        'plan.date_time_end': end,
        'plan.vehicle_plate': 'ABC1D23',
      };
      const stop = (order: number, type: string, name: string, latitude: number, longitude: number): Row => ({
        ...plan,
        'point.order': order,
        'point.type': type,
        'point.name': name,
        'point.external_code': `V-1001-${order}`,
        'point.address': `${name}, São Paulo`,
        'point.latitude': latitude,
        'point.longitude': longitude,
      });
      const item = { 'item.external_code': 'NF-77', 'item.description': 'Caixa', 'item.quantity': 2 };
      return [
        stop(1, 'Partida', 'Praça da Sé', -23.5503, -46.6339),
        { ...stop(2, 'Entrega', 'Praça da República', -23.5446, -46.6423), ...item },
      ];
    }
    case 'points_of_interest':
      return [
        { external_code: 'C-12', title: 'Praça da Sé', latitude: -23.5503, longitude: -46.6339, phone: '1155550100' },
      ];
    case 'agents':
      return [{ external_code: 'M-7', name: 'Nome do agente', cpf: '111.444.777-35', is_deliveryman: 'sim' }];
    case 'itineraries':
      return [
        {
          external_id: 'I-1001',
          vehicle_id: 1,
          driver_id: 1,
          date_time_start_estimated: start,
          date_time_end_estimated: end,
          description: 'Praça da Sé',
        },
      ];
  }
}

/** The content of the file. */
export async function template({ kind, format, language, nowMs, zone }: TemplateOptions): Promise<Buffer> {
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(zone).toPlainDate();
  const rows = exampleRows(kind, today.add({ days: 1 }).toString());
  const paths = [...new Set(rows.flatMap(Object.keys))];
  if (format === 'json')
    return Buffer.from(`${JSON.stringify(await itemsOf(kind, zone, paths, rows), undefined, 2)}\n`);
  const header = paths.map((path) => (language === 'pt' ? labelOf(kind, path) : path));
  const cells = rows.map((row) => paths.map((path) => row[path] ?? ''));
  return format === 'csv' ? csvText(header, cells, language) : workbook(header, cells);
}

/** In Portuguese, spreadsheets expect decimal commas. */
async function csvText(header: string[], rows: Cell[][], language: Language): Promise<Buffer> {
  const number = (cell: number): string => (language === 'pt' ? String(cell).replace('.', ',') : String(cell));
  return Buffer.from(await spreadsheetText([header, ...rows], language, { cast: { number } }));
}

async function workbook(header: string[], rows: Cell[][]): Promise<Buffer> {
  const { default: writeExcelFile } = await import('write-excel-file/node');
  const cells = [
    header.map((value) => ({ value, fontWeight: 'bold' as const })),
    ...rows.map((row) => row.map((value) => (value === '' ? null : { value }))),
  ];
  return writeExcelFile(cells).toBuffer();
}

/** The items in canonical form. */
async function itemsOf(kind: FeedKind, zone: string, header: string[], rows: readonly Row[]): Promise<Json[]> {
  const context = { kind, zone, reuseCodes: false, mapping: prepareMapping(kind, {}) };
  const table = { header, rows: rows.map((cells, i) => ({ row: i + 1, cells })) };
  const items: Json[] = [];
  for await (const parsed of readTable(table, kind, context)) {
    if (!('item' in parsed)) continue;
    const { data, externalCode } = parsed.item;
    // The code of these kinds is not sent, so it is not part of `data`.
    items.push(kind === 'points_of_interest' || kind === 'agents' ? { external_code: externalCode, ...data } : data);
  }
  return items;
}
