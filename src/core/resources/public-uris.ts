import { JsonText, SharedJson, type Member } from '../../lib/json-text/json-text.js';
import { encodeSteps } from '../../lib/json-text/scanned-object.js';
import { elementSteps, indexed, memberSteps } from '../../lib/json-text/sliced-text.js';
import { runAtOnce, type Steps } from '../../lib/slices/run-sliced.js';

/** Results with more characters are encoded in steps. */
const MAX_UNSLICED_LENGTH = 262_144;

/** Maps an own URI of a server to its public URI. */
export type ToPublicUri = (uri: string) => string;

/** Rewrites the text of a JSON value. Runs in steps, because a result may have a hundred thousand links. */
type Change = (value: string) => Steps<string>;

/** The result of `resources/read` with public URIs in its contents. */
export const withPublicContents = (result: JsonText, toPublic: ToPublicUri): Steps<JsonText> =>
  rewritten(result, { contents: inArray(inObject({ uri: uriChange(toPublic) })) });

/** The result of `tools/call` with public URIs in resource links, embedded resources and the user interface. */
export const withPublicLinks = (result: JsonText, toPublic: ToPublicUri): Steps<JsonText> =>
  rewritten(result, { content: inArray(blockChange(toPublic)), _meta: uiChange(toPublic) });

/** The result of `prompts/get`, or a sampling request, with public URIs. A message has one content block or several. */
export function* withPublicMessages(result: JsonText, toPublic: ToPublicUri): Steps<JsonText> {
  if (!mentionsResources(result)) return result;
  const block = blockChange(toPublic);
  const blocks = inArray(block);
  const content: Change = (value) => (value.startsWith('[') ? blocks(value) : block(value));
  return yield* rewritten(result, { messages: inArray(inObject({ content })) });
}

/** A JSON-RPC error of a server with the public URI in `data.uri`. */
export const withPublicErrorUri = (error: string, toPublic: ToPublicUri): Steps<string> =>
  inObject({ data: inObject({ uri: uriChange(toPublic) }) })(error);

/** Replaces `_meta.ui.resourceUri`, and the older `_meta["ui/resourceUri"]`, in the definition of a tool. */
export function withPublicUi(text: string, toPublic: ToPublicUri): string {
  return text.includes('esourceUri') ? runAtOnce(inObject({ _meta: uiChange(toPublic) })(text)) : text;
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

/** False for most results, which need no rewrite. */
export const mentionsResources = (result: JsonText): boolean => result.includes('resource');

function* rewritten(result: JsonText, changes: Readonly<Record<string, Change>>): Steps<JsonText> {
  if (!result.isObject) return result;
  const { text, members } = yield* indexed(result);
  const changed = yield* changeMembers(text, members, changes);
  if (changed.text === text) return result;
  if (changed.text.length <= MAX_UNSLICED_LENGTH)
    return new JsonText(changed.text, undefined, changed.members);
  return new SharedJson(changed.text, changed.members, yield* encodeSteps(changed.text));
}

/** The text with changed values, and the positions of the members in it. */
function* changeMembers(
  text: string,
  members: readonly Member[],
  changes: Readonly<Record<string, Change>>,
): Steps<{ readonly text: string; readonly members: readonly Member[] }> {
  const parts: string[] = [];
  const moved: Member[] = [];
  let copied = 0;
  let shift = 0;
  for (const { key, keyStart, start, end } of members) {
    const change = Object.hasOwn(changes, key) ? changes[key] : undefined;
    const value = text.slice(start, end);
    const changed = change ? yield* change(value) : value;
    const growth = changed.length - value.length;
    moved.push({ key, keyStart: keyStart + shift, start: start + shift, end: end + shift + growth });
    if (changed === value) continue;
    parts.push(text.slice(copied, start), changed);
    copied = end;
    shift += growth;
  }
  if (copied === 0) return { text, members };
  parts.push(text.slice(copied));
  return { text: parts.join(''), members: moved };
}

const inObject = (changes: Readonly<Record<string, Change>>): Change =>
  function* (text) {
    if (!text.startsWith('{')) return text;
    return (yield* changeMembers(text, yield* memberSteps(text), changes)).text;
  };

const inArray = (change: Change): Change =>
  function* (text) {
    if (!text.startsWith('[')) return text;
    const parts: string[] = [];
    let copied = 0;
    for (const element of elementSteps(text)) {
      yield;
      if (!element) continue;
      const { start, end } = element;
      const value = text.slice(start, end);
      const changed = yield* change(value);
      if (changed === value) continue;
      parts.push(text.slice(copied, start), changed);
      copied = end;
    }
    if (copied === 0) return text;
    parts.push(text.slice(copied));
    return parts.join('');
  };

const uriChange = (toPublic: ToPublicUri): Change =>
  // oxlint-disable-next-line require-yield -- one URI is changed at once
  function* (value) {
    return value.startsWith('"') ? JSON.stringify(toPublic(JSON.parse(value) as string)) : value;
  };

function uiChange(toPublic: ToPublicUri): Change {
  const uri = uriChange(toPublic);
  return inObject({ ui: inObject({ resourceUri: uri }), 'ui/resourceUri': uri });
}

/** In sampling requests, a block can be a tool result with blocks of its own. These contain no further results. */
function blockChange(toPublic: ToPublicUri, isInner = false): Change {
  const uri = uriChange(toPublic);
  const byType = new Map([
    ['"resource_link"', { uri }],
    ['"resource"', { resource: inObject({ uri }) }],
  ]);
  return function* (block) {
    if (!block.startsWith('{') || !block.includes('resource')) return block;
    const members = yield* memberSteps(block);
    const type = members.findLast(({ key }) => key === 'type');
    const name = type && block.slice(type.start, type.end);
    const changes: Readonly<Record<string, Change>> | undefined =
      name === '"tool_result"' && !isInner
        ? { content: inArray(blockChange(toPublic, true)) }
        : byType.get(name ?? '');
    return changes ? (yield* changeMembers(block, members, changes)).text : block;
  };
}
