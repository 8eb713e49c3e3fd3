import { elementsOf, JsonText, mapMember, memberText } from '../../lib/json-text/json-text.js';

/** From a server's own URI to the one that clients know. */
export type ToPublicUri = (uri: string) => string;

/** The result of a read, with the URIs of its contents as clients know them. */
export const withPublicContents = (result: JsonText, toPublic: ToPublicUri): JsonText =>
  rewritten(result, (text) => mapElements(text, 'contents', (content) => mapUri(content, toPublic)));

/** The result of a tool call: resources that it links to or embeds, and the user interface it names. */
export function withPublicLinks(result: JsonText, toPublic: ToPublicUri): JsonText {
  if (!mentionsResources(result)) return result;
  return rewritten(result, (text) =>
    withPublicUi(
      mapElements(text, 'content', (block) => mapBlock(block, toPublic)),
      toPublic,
    ),
  );
}

/** The result of a prompt, or what a server asks a model: each message has one block of content, or several. */
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

/** `_meta.ui.resourceUri`, and the older `_meta["ui/resourceUri"]`, of a tool or a result. */
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

/** The user interfaces that a tool names in its definition. */
export function uiUrisIn(text: string): readonly string[] {
  const uris: string[] = [];
  withPublicUi(text, (uri) => {
    uris.push(uri);
    return uri;
  });
  return uris;
}

/** Most results mention none, and are passed on without being looked at any closer. */
const mentionsResources = ({ text }: JsonText): boolean => text.includes('resource');

function rewritten(result: JsonText, rewrite: (text: string) => string): JsonText {
  if (!result.text.startsWith('{')) return result;
  const text = rewrite(result.text);
  return text === result.text ? result : new JsonText(text);
}

const mapContent = (content: string, toPublic: ToPublicUri): string =>
  content.startsWith('[')
    ? mapArray(content, (block) => mapBlock(block, toPublic))
    : mapBlock(content, toPublic);

/** In what a server asks a model there may be results of tools, which have blocks of their own, but none within those. */
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
