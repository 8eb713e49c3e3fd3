import { createHash } from 'node:crypto';
import { isJsonObject, tryParseJson } from '../lib/json-text/json-value.js';
import { fromJson, toJson, type DecisionsJson } from './decisions-json.js';
import type { Decisions } from './decision-store.js';
import { migrate, SCHEMA_VERSION, type StateContent } from './state-migrations.js';

interface Envelope {
  readonly schemaVersion: number;
  readonly revision: number;
  readonly checksum: string;
  readonly decisions: StateContent;
}

const PARTS: readonly (keyof DecisionsJson)[] = ['servers', 'projects', 'keys', 'stamps'];

type ParsedState =
  | { readonly decisions: Decisions }
  | { readonly damage: string }
  /** The file was written by a later version, which may use another format. */
  | { readonly newerVersion: number };

/** The text of the state file. It is not meant to be edited: the checksum detects an edit. */
export function serializeState(decisions: Decisions): string {
  const { revision } = decisions;
  const content = { ...toJson(decisions) };
  const checksum = checksumOf(SCHEMA_VERSION, revision, content);
  const envelope: Envelope = { schemaVersion: SCHEMA_VERSION, revision, checksum, decisions: content };
  return `${JSON.stringify(envelope, null, 2)}\n`;
}

export function parseState(text: string): ParsedState {
  const document = tryParseJson(text);
  if (!isJsonObject(document)) return { damage: 'it is not a JSON object' };
  const { schemaVersion, revision, checksum, decisions } = document;
  if (!isCount(schemaVersion) || schemaVersion < 1) return { damage: 'it has no schemaVersion' };
  if (schemaVersion > SCHEMA_VERSION) return { newerVersion: schemaVersion };
  if (!isCount(revision)) return { damage: 'it has no revision' };
  if (!isJsonObject(decisions)) return { damage: 'it holds no decisions' };
  if (checksum !== checksumOf(schemaVersion, revision, decisions)) {
    return { damage: 'its checksum does not match its content' };
  }
  const content = migrate(decisions, schemaVersion);
  const isComplete = PARTS.every((part) => isJsonObject(content[part]));
  if (!isComplete) return { damage: 'its decisions are incomplete' };
  return { decisions: fromJson(content as unknown as DecisionsJson, revision) };
}

/** Covers the values and not the bytes of the file, so that `parseState` can compute it from the parsed values. */
function checksumOf(schemaVersion: number, revision: number, content: StateContent): string {
  const text = JSON.stringify([schemaVersion, revision, content]);
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
