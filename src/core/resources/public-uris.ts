import { elementsOf, JsonText, mapMember, memberText } from '../../lib/json-text/json-text.js';

/** Maps an own URI of a server to its public URI. */
export type ToPublicUri = (uri: string) => string;

/** The result of `resources/read` with public URIs in its contents. */
export const withPublicContents = (result: JsonText, toPublic: ToPublicUri): JsonText =>
  rewritten(result, (text) => mapElements(text, 'contents', (content) => mapUri(content, toPublic)));

/** The result of `tools/call` with public URIs in resource links, embedded resources and the user interface. */
export const withPublicLinks = (result: JsonText, toPublic: ToPublicUri): JsonText =>
  rewritten(result, (text) =>
    withPublicUi(
      mapElements(text, 'content', (block) => mapBlock(block, toPublic)),
      toPublic,
    ),
  );

/** The result of `prompts/get`, or a sampling request, with public URIs. A message has one content block or several. */
export function withPublicMessages(result: JsonText, toPublic: ToPublicUri): JsonText {
  if (!mentionsResources(result)) return result;
  return rewritten(result, (text) =>
    mapElements(text, 'messages', (message) =>
      message.startsWith('{')
        ? mapMember(message, 'content', (content) => mapContent(content, toPublic))
        : message,
    ),
  );
}

/** Replaces `_meta.ui.resourceUri`, and the older `_meta["ui/resourceUri"]`, of a tool or a result by public URIs. */
export function withPublicUi(text: string, toPublic: ToPublicUri): string {
  if (!text.includes('esourceUri')) return text;
  return mapObject(text, '_meta', (meta) =>
    mapText(
      mapObject(meta, 'ui', (ui) => mapText(ui, 'resourceUri', toPublic)),
      'ui/resourceUri',
      toPublic,
    ),
  );
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
export const mentionsResources = ({ text }: JsonText): boolean => text.includes('resource');

function rewritten(result: JsonText, rewrite: (text: string) => string): JsonText {
  if (!result.text.startsWith('{')) return result;
  const text = rewrite(result.text);
  return text === result.text ? result : new JsonText(text);
}

const mapContent = (content: string, toPublic: ToPublicUri): string =>
  content.startsWith('[')
    ? mapArray(content, (block) => mapBlock(block, toPublic))
    : mapBlock(content, toPublic);

/** In sampling requests, a block can be a tool result with blocks of its own. These contain no further results. */
function mapBlock(block: string, toPublic: ToPublicUri): string {
  const isResult = block.startsWith('{') && memberText(block, 'type') === '"tool_result"';
  return isResult
    ? mapElements(block, 'content', (inner) => mapPlainBlock(inner, toPublic))
    : mapPlainBlock(block, toPublic);
}

function mapPlainBlock(block: string, toPublic: ToPublicUri): string {
  if (!block.startsWith('{')) return block;
  const type = memberText(block, 'type');
  if (type === '"resource_link"') return mapUri(block, toPublic);
  return type === '"resource"'
    ? mapObject(block, 'resource', (resource) => mapUri(resource, toPublic))
    : block;
}

const mapUri = (text: string, toPublic: ToPublicUri): string =>
  text.startsWith('{') ? mapText(text, 'uri', toPublic) : text;

const mapText = (text: string, key: string, change: (value: string) => string): string =>
  mapMember(text, key, (value) =>
    value.startsWith('"') ? JSON.stringify(change(JSON.parse(value) as string)) : value,
  );

const mapObject = (text: string, key: string, change: (object: string) => string): string =>
  mapMember(text, key, (value) => (value.startsWith('{') ? change(value) : value));

const mapElements = (text: string, key: string, change: (element: string) => string): string =>
  mapMember(text, key, (value) => (value.startsWith('[') ? mapArray(value, change) : value));

function mapArray(text: string, change: (element: string) => string): string {
  let result = '';
  let copied = 0;
  for (const { start, end } of elementsOf(text)) {
    result += text.slice(copied, start) + change(text.slice(start, end));
    copied = end;
  }
  return result + text.slice(copied);
}
