/** JSON texts that are cheap to send and expensive to parse, each of about `bytes`. */
export const shapes = {
  deep: (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
  unclosed: (bytes) => '['.repeat(bytes),
  'distinct keys': (bytes) => `{${fill(bytes, (i) => `"key${i}":1`)}}`,
  'small objects': (bytes) => `[${fill(bytes, (i) => `{"k${i}":1}`)}]`,
  numbers: (bytes) => `[${'1,'.repeat(bytes / 2)}1]`,
  escapes: (bytes) => `"${'\\u00e9'.repeat(bytes / 6)}"`,
  'long string': (bytes) => `"${'a'.repeat(bytes)}"`,
};

function fill(bytes, memberOf) {
  const members = [];
  for (let i = 0, length = 0; length < bytes; i++)
    length += members[members.push(memberOf(i)) - 1].length + 1;
  return members.join(',');
}
