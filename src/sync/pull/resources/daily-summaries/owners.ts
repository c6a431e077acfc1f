// Finds the owner of a daily figure: its row has only a title, the plate of a vehicle or the label of a driver. A row whose
// title is unknown is stored without an owner; once the vehicle or driver is known, those days are read again.
import { readInChunks } from '../../../../core/chunks.ts';
import { idsByLabel } from '../../../../warehouse/queries/dimension-keys.ts';
import type { Table } from '../../../../warehouse/schema/table.ts';
import { dailySummary } from '../../../../warehouse/tables/daily-summary.ts';
import { driver } from '../../../../warehouse/tables/driver.ts';
import { vehicle } from '../../../../warehouse/tables/vehicle.ts';
import type { Source, UnknownLabels } from '../../types.ts';

export type Subject = 'vehicle' | 'driver';

interface Dimension {
  table: Table;
  labels: readonly string[];
}

const DIMENSIONS: Readonly<Record<Subject, Dimension>> = {
  vehicle: { table: vehicle, labels: ['plate', 'title'] },
  driver: { table: driver, labels: ['name'] },
};

/** Far below the number of values that any engine can bind in a statement. */
const TITLES_PER_QUERY = 500;

export type Owners = Awaited<ReturnType<typeof ownersOf>>;

type Lookup = Pick<Source, 'warehouse' | 'asStored'>;

export async function ownersOf(subject: Subject, { warehouse, asStored }: Lookup) {
  const { table, labels } = DIMENSIONS[subject];
  const owners = await idsByLabel(warehouse, table, labels);
  const candidates = (title: string) =>
    labels.map((label) => {
      const stored = asStored(table, label, title);
      // If privacy rules forbid storing the label, any row could have it.
      return stored === null ? null : owners.get(stored);
    });
  return {
    /** Null if no row of the dimension has the title, or several have it. */
    ownerOf: (title: string): number | null => candidates(title).find((owner) => typeof owner === 'number') ?? null,
    /** Several rows have the title, or may have it. */
    isAmbiguous: (title: string): boolean => candidates(title).includes(null),
    /** Certainly no row in the warehouse has the title. */
    isUnknown: (title: string): boolean => candidates(title).every((owner) => owner === undefined),
  };
}

/** The pull that may bring the owners of these titles of a day. Some titles may have been seen before. */
export async function unknownOwners(
  subject: Subject,
  day: string,
  titles: readonly string[],
  { warehouse, asStored, readAt }: Source,
): Promise<UnknownLabels | undefined> {
  if (titles.length === 0) return undefined;
  const stored = titles.map((title) => asStored(dailySummary, 'title', title));
  const rows = await readInChunks<string | null, { _first_seen_at: string }>(stored, TITLES_PER_QUERY, (some) =>
    warehouse.read((sql) =>
      sql(dailySummary.name).where({ day, subject }).whereIn('title', some).select('_first_seen_at'),
    ),
  );
  const firstSeen = rows.map((row) => row._first_seen_at);
  // Instants of one format sort as text.
  const metAt = firstSeen.length < stored.length ? readAt : (firstSeen.toSorted().at(-1) ?? readAt);
  return { job: DIMENSIONS[subject].table.pulledBy ?? '', metAt };
}

/** Days since `since` with a row that has no owner, although its owner is known now. */
export async function daysWithKnownOwner(subject: Subject, since: string, lookup: Lookup) {
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
