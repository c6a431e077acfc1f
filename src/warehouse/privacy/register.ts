// The privacy register: every place in which Roadbook keeps personal data, the policy in effect, how long it is kept, and
// where copies go. Made from the declarations, so that a new personal column is in it by itself.
import type { Policy } from '../../core/privacy-policy.ts';
import { exportables } from '../export/exportable.ts';
import { tables } from '../schema/catalog.ts';
import type { Column, Table } from '../schema/table.ts';
import { views } from '../schema/view-catalog.ts';

export interface RegisterSettings {
  /** Policy by `table.column`. */
  policies: Readonly<Record<string, Policy>>;
  /** Retention by table, in words; a table without an entry is kept for ever. */
  retention: Readonly<Record<string, string>>;
  feeds: readonly string[];
  /** Folder of the picture files. */
  images: string;
  /** Folders from which the ERP's files are read, and how long finished files stay in them, in words. */
  dropFolders: readonly { folder: string; kept: string }[];
}

/** The personal columns whose values the items of each feed may hold. */
const HELD: Readonly<Record<string, readonly string[]>> = {
  // A plan names its drivers and helpers by tax number.
  route_plans: ['driver.cpf', 'route_point.name', 'route_point.address'],
  points_of_interest: ['point_of_interest.responsible_name', 'point_of_interest.phone'],
  agents: ['name', 'cpf', 'rg', 'company_registry', 'email', 'phone_number'].map((name) => `driver.${name}`),
};

const AS_ENTRY = 'as long as the entry: keep_confirmed of its job';

/** How long control tables keep personal data, as their own options say. */
const KEPT: Readonly<Record<string, string>> = {
  'push_outbox.payload': 'until the item is confirmed or cancelled; keep_rejected of its job after a rejection',
  'push_outbox.reasons': AS_ENTRY,
  'push_attempt.message': AS_ENTRY,
  'push_content.stops': AS_ENTRY,
  'push_outbox.erp_code': 'while the ERP may have to be notified',
};

/** Columns that say where a person was or who signed, and that no policy changes. */
const BESIDE_POLICIES = /latitude$|longitude$|plate$|^signature/;

export function personalRegister(settings: RegisterSettings) {
  const entries = tables.flatMap((table) =>
    table.columns.filter(({ personal }) => personal).map((column) => entryOf(table, column, settings)),
  );
  const { images, dropFolders } = settings;
  return [
    ...entries,
    {
      ...beside(
        'extra of every record',
        'Fields that no column holds. Personal numbers follow the policy of the driver.',
      ),
      exports: tables.filter(({ kind }) => kind === 'base').map(({ name }) => name),
      in_quarantine: true,
    },
    {
      ...beside(
        'coordinates, licence plates and names of signature files',
        'Where a driver, an agent or a customer was, and who signed. No policy applies.',
      ),
      kept: 'as long as their rows',
      exports: besidePolicies(),
      in_outbox: settings.feeds.includes('route_plans') || settings.feeds.includes('points_of_interest'),
      in_quarantine: true,
    },
    beside(images, 'Files of pictures and signatures; see image.file.'),
    ...dropFolders.map(({ folder, kept }) => ({ ...beside(folder, 'Files of the ERP, and their results.'), kept })),
  ];
}

const besidePolicies = (): string[] => [
  ...new Set(
    tables.flatMap((table) =>
      table.columns
        .filter(({ name }) => BESIDE_POLICIES.test(name))
        .flatMap(({ name }) => exportsOf(table, `${table.name}.${name}`)),
    ),
  ),
];

const FOR_EVER = 'for ever';

/** A place that is no personal column. */
const beside = (place: string, meaning: string): ReturnType<typeof entryOf> => ({
  place,
  meaning,
  policy: null,
  kept: FOR_EVER,
  exports: [],
  in_outbox: false,
  in_quarantine: false,
  in_logs: false,
});

function entryOf(table: Table, column: Column, { policies, retention, feeds }: RegisterSettings) {
  const place = `${table.name}.${column.name}`;
  // A table of revisions copies the values as they are stored.
  const revised = tables.find(({ revisions }) => revisions === table.name);
  const policy = policies[place] ?? policies[`${revised?.name}.${column.name}`] ?? null;
  const isStored = policy !== 'drop';
  return {
    place,
    meaning: column.meaning,
    /** Null where no policy applies, because the data is kept only as long as it is needed, or is no column. */
    policy,
    /** How long the data is kept, in words. */
    kept: isStored ? (KEPT[place] ?? retention[rootOf(table)] ?? FOR_EVER) : 'not stored',
    /** Tables and views that `roadbook export` writes with it. */
    exports: isStored ? exportsOf(table, place) : [],
    /** Whether the ERP's version of it waits in push_outbox.payload until it is sent. */
    in_outbox: feeds.some((feed) => HELD[feed]?.includes(place)),
    /** Whether the record is copied to sync_quarantine if it is invalid. */
    in_quarantine: table.kind === 'base' && isStored,
    /** Logs, errors and control tables hold no record. */
    in_logs: false,
  };
}

/** The table whose retention applies: rows are deleted with their parent. */
const rootOf = ({ name, parent }: Table): string => {
  const owner = parent === null ? undefined : tables.find((each) => each.name === parent.table);
  return owner === undefined ? name : rootOf(owner);
};

const exportsOf = (table: Table, place: string): string[] => {
  const showing = views.filter(({ columns }) => columns.some(({ source }) => source === place));
  const names = new Set([table, ...showing].map(({ name }) => name));
  return exportables.filter(({ name }) => names.has(name)).map(({ name }) => name);
};
