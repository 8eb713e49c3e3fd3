/** Joins what `element` returns until the text has `bytes` characters. */
function fill(bytes, element) {
  const parts = [];
  for (let length = 0, index = 0; length < bytes; index++) {
    const part = element(index);
    parts.push(part);
    length += part.length + 1;
  }
  return parts.join(',');
}

/** JSON values of about `bytes` bytes that are expensive to parse, rewrite or scan, each in another way. */
export const SHAPES = {
  'one string': (bytes) => JSON.stringify('a'.repeat(bytes)),
  'escaped quotes': (bytes) => `"${'\\"'.repeat(bytes / 2)}"`,
  'three-byte characters': (bytes) => JSON.stringify('漢'.repeat(bytes / 3)),
  numbers: (bytes) => `[${fill(bytes, () => '1')}]`,
  'empty strings': (bytes) => `[${fill(bytes, () => '""')}]`,
  'empty arrays': (bytes) => `[${fill(bytes, () => '[]')}]`,
  'small objects': (bytes) => `[${fill(bytes, (n) => `{"k${n}":${n}}`)}]`,
  'long strings': (bytes) => `[${fill(bytes, (n) => `"${`resource ${n} `.repeat(20)}"`)}]`,
  'distinct keys': (bytes) => `{${fill(bytes, (n) => `"key ${n}":1`)}}`,
  '99,000 distinct keys': (bytes) =>
    `{${Array.from({ length: 99_000 }, (_, n) => `"${String(n).padEnd(bytes / 99_000 - 6)}":1`).join(',')}}`,
  nested: (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
  lines: (bytes) => `[${fill(bytes, () => '\n"a short line"')}]`,
};

/** Without those that transports by lines cannot carry. */
export const SHAPES_ON_ONE_LINE = Object.keys(SHAPES).filter((shape) => shape !== 'lines');

/** The content of a result with so many links to resources. */
export const resourceLinks = (count) =>
  JSON.stringify(
    Array.from({ length: count }, (_, n) => ({
      type: 'resource_link',
      uri: `file:///data/reports/${n}.txt`,
      name: `report ${n}`,
      mimeType: 'text/plain',
    })),
  );
