import type { JsonEdit } from '../../lib/json-text/json-edits.js';
import { JsonText } from '../../lib/json-text/json-text.js';
import { ScannedObject } from '../../lib/json-text/scanned-object.js';
import {
  elementSteps,
  namedMemberSteps,
  editableJson,
  type JsonRange,
  type EditableJson,
} from '../../lib/json-text/sliced-text.js';
import { runAtOnce, type Steps } from '../../lib/slices/run-sliced.js';
import { isUriTooLong, MAX_URI_BYTES } from './resource-uri.js';

/** Maximum characters of a URI as a JSON string: two quotes, and six characters for each escaped byte. */
const MAX_JSON_URI_LENGTH = 2 + 6 * MAX_URI_BYTES;

/** Maps an own URI of a server to its public URI. */
export type ToPublicUri = (uri: string) => string;

/**
 * Adds the edits that replace the URIs in one value. `value` is its range in the text of `source`. Runs in steps,
 * because a result may have a hundred thousand links.
 */
type Change = (source: EditableJson, value: JsonRange, edits: JsonEdit[]) => Steps;

/** By key of a member: the function that adds the edits of its value. */
type MemberChanges = Readonly<Record<string, Change>>;

/** The result of `resources/read` with public URIs in its contents. */
export const withPublicContents = (result: JsonText, toPublic: ToPublicUri): Steps<JsonText> =>
  rewritten(result, { contents: inArray(inObject({ uri: uriChange(toPublic) })) });

/** The result of `tools/call` with public URIs in resource links, embedded resources and the user interface. */
export function* withPublicLinks(result: JsonText, toPublic: ToPublicUri): Steps<JsonText> {
  if (!(yield* mentionsResources(result))) return result;
  return yield* rewritten(result, { content: inArray(blockChange(toPublic)), _meta: uiChange(toPublic) });
}

/** The result of `prompts/get`, or a sampling request, with public URIs. A message has one content block or several. */
export function* withPublicMessages(result: JsonText, toPublic: ToPublicUri): Steps<JsonText> {
  if (!(yield* mentionsResources(result))) return result;
  const block = blockChange(toPublic);
  const blocks = inArray(block);
  const content: Change = (source, value, edits) =>
    (source.text[value.start] === '[' ? blocks : block)(source, value, edits);
  return yield* rewritten(result, { messages: inArray(inObject({ content })) });
}

/** A JSON-RPC error of a server with the public URI in `data.uri`. */
export function* withPublicErrorUri(error: string, toPublic: ToPublicUri): Steps<string> {
  const changed = yield* rewritten(new JsonText(error), { data: inObject({ uri: uriChange(toPublic) }) });
  return changed.text;
}

/** Replaces `_meta.ui.resourceUri`, and the older `_meta["ui/resourceUri"]`, in the definition of a tool. */
export function withPublicUi(text: string, toPublic: ToPublicUri): string {
  if (!text.includes('resourceUri')) return text;
  return runAtOnce(rewritten(new JsonText(text), { _meta: uiChange(toPublic) })).text;
}

/** The URIs of user interfaces in the definition of a tool. */
export function uiUrisIn(text: string): readonly string[] {
  const uris: string[] = [];
  withPublicUi(text, (uri) => {
    uris.push(uri);
    return uri;
  });
  return uris;
}

/**
 * Whether the result may contain URIs that have to be replaced. Always true for a long result, because searching it at
 * once would take too long.
 */
export const mayMentionResources = (result: JsonText): boolean =>
  result.isLongObject || result.text.includes(MENTION);

/** Every content block with a URI has this text in its type. The key `resourceUri` of a user interface contains it too. */
const MENTION = 'resource';

/** Whether the result contains `MENTION`. */
function* mentionsResources(result: JsonText): Steps<boolean> {
  return result instanceof ScannedObject
    ? yield* result.includesSteps(MENTION)
    : result.text.includes(MENTION);
}

/** Returns the result after the edits. Each function in `changes` adds the edits of the member with its key. */
function* rewritten(result: JsonText, changes: MemberChanges): Steps<JsonText> {
  if (!result.isObject) return result;
  const source = yield* editableJson(result);
  const edits: JsonEdit[] = [];
  for (const member of source.members)
    if (Object.hasOwn(changes, member.key)) yield* changes[member.key]!(source, member, edits);
  return edits.length === 0 ? result : yield* source.edited(edits);
}

function inObject(changes: MemberChanges): Change {
  const keys = Object.keys(changes);
  return function* (source, { start }, edits) {
    if (source.text[start] !== '{') return;
    for (const member of yield* namedMemberSteps(source.text, keys, start)) {
      yield;
      yield* changes[member.key]!(source, member, edits);
    }
  };
}

const inArray = (change: Change): Change =>
  function* (source, { start }, edits) {
    if (source.text[start] !== '[') return;
    for (const element of elementSteps(source.text, start)) {
      yield;
      if (element) yield* change(source, element, edits);
    }
  };

/** A URI that is too long is not replaced: no client can request it. */
const uriChange = (toPublic: ToPublicUri): Change =>
  // oxlint-disable-next-line require-yield -- one URI takes one step
  function* (source, { start, end }, edits) {
    if (source.text[start] !== '"' || end - start > MAX_JSON_URI_LENGTH) return;
    const uri = JSON.parse(source.decode(start, end)) as string;
    if (isUriTooLong(uri)) return;
    const publicUri = toPublic(uri);
    if (publicUri !== uri) edits.push({ start, end, text: JSON.stringify(publicUri) });
  };

function uiChange(toPublic: ToPublicUri): Change {
  const uri = uriChange(toPublic);
  return inObject({ ui: inObject({ resourceUri: uri }), 'ui/resourceUri': uri });
}

const BLOCK_KEYS = ['type', 'uri', 'resource', 'content'];

/**
 * The change of a content block. In sampling requests, a block can be a tool result, which contains other blocks.
 * `isInner`: the block is in a tool result, and cannot be a tool result itself.
 */
function blockChange(toPublic: ToPublicUri, { isInner } = { isInner: false }): Change {
  const uri = uriChange(toPublic);
  // By type of the block, with its quotes: types are compared as JSON text, without decoding them.
  const byType = new Map<string, MemberChanges>([
    ['"resource_link"', { uri }],
    ['"resource"', { resource: inObject({ uri }) }],
  ]);
  if (!isInner) byType.set('"tool_result"', { content: inArray(blockChange(toPublic, { isInner: true })) });
  return function* (source, { start }, edits) {
    if (source.text[start] !== '{') return;
    const members = yield* namedMemberSteps(source.text, BLOCK_KEYS, start);
    const type = members.findLast(({ key }) => key === 'type');
    if (!type || type.end - type.start > MAX_TYPE_LENGTH) return;
    const changes = byType.get(source.text.slice(type.start, type.end));
    if (!changes) return;
    for (const member of members) {
      yield;
      if (Object.hasOwn(changes, member.key)) yield* changes[member.key]!(source, member, edits);
    }
  };
}

/** No content block with a URI has a longer type. */
const MAX_TYPE_LENGTH = 32;
