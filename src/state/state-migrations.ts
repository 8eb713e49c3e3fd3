/** What a state file holds beside its envelope, in the shape of some schema version. */
export type StateContent = Readonly<Record<string, unknown>>;

export type Migration = (content: StateContent) => StateContent;

/** The one at n - 1 turns the content of schema n into that of n + 1. Released ones never change. */
const MIGRATIONS: readonly Migration[] = [];

export const SCHEMA_VERSION = MIGRATIONS.length + 1;

/** There is no way back: an older gateway refuses a newer file. */
export function migrate(content: StateContent, from: number, migrations = MIGRATIONS): StateContent {
  return migrations.slice(from - 1).reduce((older, step) => step(older), content);
}
