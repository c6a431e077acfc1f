// Whom a daily figure is of: its row has a title only, the plate of a vehicle or the label of a driver. A title that
// nobody has yet is kept without an owner; once the vehicle or driver is known, its days are told again.
import { chunks } from '../../../../core/chunks.ts';
import { idsByLabel } from '../../../../warehouse/queries/dimension-keys.ts';
import type { Table } from '../../../../warehouse/schema/table.ts';
import { dailySummary } from '../../../../warehouse/tables/daily-summary.ts';
import { driver } from '../../../../warehouse/tables/driver.ts';
import { vehicle } from '../../../../warehouse/tables/vehicle.ts';
import type { UnknownName } from '../../../slice.ts';
import type { Source } from '../../types.ts';

export type Subject = 'vehicle' | 'driver';

interface Dimension {
  table: Table;
  labels: readonly string[];
}

const DIMENSIONS: Readonly<Record<Subject, Dimension>> = {
  vehicle: { table: vehicle, labels: ['plate', 'title'] },
  driver: { table: driver, labels: ['name'] },
};

/** Titles a statement, far below what any engine binds. */
const TITLES = 500;

export interface Owners {
  /** Null where nobody has the title, or several have it. */
  ownerOf(title: string): number | null;
  /** Several have it, or may have it. */
  isAmbiguous(title: string): boolean;
  /** Surely nobody in the warehouse has it. */
  isUnknown(title: string): boolean;
}

type Lookup = Pick<Source, 'warehouse' | 'asStored'>;

export async function ownersOf(subject: Subject, { warehouse, asStored }: Lookup): Promise<Owners> {
  const { table, labels } = DIMENSIONS[subject];
  const owners = await idsByLabel(warehouse, table, labels);
  const candidates = (title: string) =>
    labels.map((label) => {
      const stored = asStored(table, label, title);
      // A label that may not be stored could be anyone's.
      return stored === null ? null : owners.get(stored);
    });
  return {
    ownerOf: (title) => candidates(title).find((owner) => typeof owner === 'number') ?? null,
    isAmbiguous: (title) => candidates(title).includes(null),
    isUnknown: (title) => candidates(title).every((owner) => owner === undefined),
  };
}

/** The pull that may bring the owners of these titles of a day, of which some may have been met before. */
export async function unknownOwners(
  subject: Subject,
  day: string,
  titles: readonly string[],
  { warehouse, asStored, readAt }: Source,
): Promise<UnknownName[]> {
  if (titles.length === 0) return [];
  const stored = titles.map((title) => asStored(dailySummary, 'title', title));
  const met: string[] = [];
  for (const part of chunks(stored, TITLES)) {
    const rows: { _first_seen_at: string }[] = await warehouse.read((sql) =>
      sql(dailySummary.name).where({ day, subject }).whereIn('title', part).select('_first_seen_at'),
    );
    met.push(...rows.map((row) => row._first_seen_at));
  }
  // Instants of one form sort as text.
  const metAt = met.length < stored.length ? readAt : (met.toSorted().at(-1) ?? readAt);
  return [{ job: DIMENSIONS[subject].table.pulledBy ?? '', metAt }];
}

export interface OwnedDay {
  date: string;
  owner: number;
}

/** Days from `since` on that have a row without an owner whose owner is known by now. */
export async function daysWithKnownOwner(
  subject: Subject,
  since: string,
  lookup: Lookup,
): Promise<OwnedDay[]> {
  const rows: { day: string; title: string }[] = await lookup.warehouse.read((sql) =>
    sql(dailySummary.name)
      .whereNull(`${subject}_id`)
      .where('day', '>=', since)
      .where({ subject })
      .whereNull('_missing_since')
      .select('day', 'title'),
  );
  if (rows.length === 0) return [];
  const owners = await ownersOf(subject, lookup);
  return rows.flatMap(({ day: date, title }) => {
    const owner = owners.isAmbiguous(title) ? null : owners.ownerOf(title);
    return owner === null ? [] : [{ date, owner }];
  });
}
