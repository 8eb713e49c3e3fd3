/** Keys of a server that only Gemini CLI has. */
const GEMINI_KEYS = ['httpUrl', 'excludeTools', 'includeTools', 'trust'];

/** Keys of a server whose values may contain variables. */
export const KEYS_WITH_VARIABLES = ['command', 'args', 'env', 'cwd', 'url', 'headers'];

/** Matches `$NAME` and captures the name. Also matches `${` and `$${` without a capture: `withBraces` keeps these. */
const VARIABLE = /\$\$?\{|\$([A-Za-z_]\w*)/g;
/** Matches `$NAME` only in upper case: in a file that is not of Gemini CLI, a `$` before other text may be part of a password. */
const LIKELY_VARIABLE = /(?<![$\w])\$[A-Z_][A-Z0-9_]*\b/;

/** Whether a definition with these keys comes from Gemini CLI, which writes variables also as `$NAME`. */
export const isGeminiDefinition = (keys: Iterable<string>): boolean =>
  [...keys].some((key) => GEMINI_KEYS.includes(key));

/** Writes `$NAME` as `${NAME}`. */
export const withBraces = (text: string): string =>
  text.replace(VARIABLE, (found, name: string | undefined) => (name === undefined ? found : `\${${name}}`));

/** Whether the text contains a `$NAME` that Gemini CLI would replace by a variable and the gateway leaves unchanged. */
export const hasBareVariable = (text: string): boolean => LIKELY_VARIABLE.test(text);

export const BRACES_NOTE = '`$NAME` of Gemini CLI is read as `${NAME}`';
export const BARE_VARIABLE_NOTE =
  'contains `$NAME`, which is a variable in Gemini CLI and plain text here; write `${NAME}` for an environment variable';
