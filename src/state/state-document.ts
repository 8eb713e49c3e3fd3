import { createHash } from 'node:crypto';
import { fromJson, toJson, type DecisionsJson } from './decisions-json.js';
import type { Decisions } from './decision-store.js';
import { migrate, SCHEMA_VERSION, type StateContent } from './state-migrations.js';

interface Envelope {
  readonly schemaVersion: number;
  readonly revision: number;
  readonly checksum: string;
  readonly decisions: StateContent;
}

export type StateReading =
  | { readonly decisions: Decisions }
  | { readonly damage: string }
  /** Written by a later gateway; we cannot know what it says, nor that it is damaged. */
  | { readonly newerVersion: number };

/** The text of the state file. It is laid out for people to read, but not to edit: the checksum would tell. */
export function writeState(decisions: Decisions): string {
  const { revision } = decisions;
  const content = { ...toJson(decisions) };
  const checksum = checksumOf(SCHEMA_VERSION, revision, content);
  const envelope: Envelope = { schemaVersion: SCHEMA_VERSION, revision, checksum, decisions: content };
  return `${JSON.stringify(envelope, null, 2)}\n`;
}

export function readState(text: string): StateReading {
  const document = parse(text);
  if (!isObject(document)) return { damage: 'it is not a JSON object' };
  const { schemaVersion, revision, checksum, decisions } = document;
  if (!isCount(schemaVersion) || schemaVersion < 1) return { damage: 'it has no schemaVersion' };
  if (schemaVersion > SCHEMA_VERSION) return { newerVersion: schemaVersion };
  if (!isCount(revision)) return { damage: 'it has no revision' };
  if (!isObject(decisions)) return { damage: 'it holds no decisions' };
  if (checksum !== checksumOf(schemaVersion, revision, decisions)) {
    return { damage: 'its checksum does not fit its content' };
  }
  const { servers, projects } = migrate(decisions, schemaVersion);
  if (!isObject(servers) || !isObject(projects)) return { damage: 'its decisions are incomplete' };
  return { decisions: fromJson({ servers, projects } as DecisionsJson, revision) };
}

/** Of the values and not of the bytes: what JSON.stringify wrote, it writes again after a JSON.parse. */
function checksumOf(schemaVersion: number, revision: number, content: StateContent): string {
  const text = JSON.stringify([schemaVersion, revision, content]);
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
