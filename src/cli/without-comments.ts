/** A string, or a comment to the end of its line or to its own end. */
const STRING_OR_COMMENT = /("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;

/** JSON as editors write it, without the comments that JSON does not have. Lines keep their numbers. */
export const withoutComments = (text: string): string =>
  text.replace(
    STRING_OR_COMMENT,
    (found, string: string | undefined) => string ?? found.replace(/[^\n]/g, ' '),
  );
