/** Matches a string, which it captures, or a comment: `//` up to the end of the line, or a block comment. */
const STRING_OR_COMMENT = /("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
const TRAILING_COMMA = /,(?=\s*[}\]])/g;

/**
 * If the text is JSON with comments, as editors allow it, returns it with spaces in place of the comments, so that every other
 * character keeps its position. Returns any other text unchanged: in YAML, `//` may be part of a value.
 */
export function withoutJsonComments(text: string): string {
  if (!isJsonWithComments(text)) return text;
  return text.replace(STRING_OR_COMMENT, (found, string?: string) => string ?? found.replace(/[^\n]/g, ' '));
}

function isJsonWithComments(text: string): boolean {
  // Only the structure is checked here. The YAML parser checks the contents of the strings.
  const withEmptyStrings = text.replace(STRING_OR_COMMENT, (_found, string?: string) =>
    string ? '""' : ' ',
  );
  try {
    JSON.parse(withEmptyStrings.replace(TRAILING_COMMA, ''));
    return true;
  } catch {
    return false;
  }
}
