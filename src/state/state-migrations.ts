/** Content of a state file without its envelope, in the format of some schema version. */
export type StateContent = Readonly<Record<string, unknown>>;

type Migration = (content: StateContent) => StateContent;

/** The migration at index n - 1 converts schema n to n + 1. Released migrations never change. */
const MIGRATIONS: readonly Migration[] = [
  // Schema 2 adds the revoked client keys (`keys`), and who made each decision and when (`stamps`).
  (content) => ({ ...content, keys: {}, stamps: {} }),
];

export const SCHEMA_VERSION = MIGRATIONS.length + 1;

/** Migrates to the current schema. There is no downgrade: an older gateway refuses a file of a newer schema. */
export function migrate(content: StateContent, from: number, migrations = MIGRATIONS): StateContent {
  return migrations.slice(from - 1).reduce((migrated, migration) => migration(migrated), content);
}
