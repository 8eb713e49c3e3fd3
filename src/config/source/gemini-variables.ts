/** Keys of a server that only Gemini CLI has. */
const GEMINI_KEYS = ['httpUrl', 'excludeTools', 'includeTools', 'trust'];

/** Keys of a server whose values may contain variables. */
export const KEYS_WITH_VARIABLES = ['command', 'args', 'env', 'cwd', 'url', 'headers'];

const VARIABLE = /\$\$?\{|\$([A-Za-z_]\w*)/g;
/** In other files than those of Gemini CLI, a dollar sign may be part of a password or of a shell script. */
const LIKELY_VARIABLE = /(?<![$\w])\$[A-Z_][A-Z0-9_]*\b/;

/** Whether the definition comes from Gemini CLI, which writes variables also as `$NAME`. */
export const isOfGemini = (keys: Iterable<string>): boolean =>
  [...keys].some((key) => GEMINI_KEYS.includes(key));

/** Writes `$NAME` as `${NAME}`. */
export const withBraces = (text: string): string =>
  text.replace(VARIABLE, (found, name: string | undefined) => (name === undefined ? found : `\${${name}}`));

/** Whether the text contains what Gemini CLI would replace and the gateway does not. */
export const hasBareVariable = (text: string): boolean => LIKELY_VARIABLE.test(text);

export const BRACES_NOTE = '`$NAME` of Gemini CLI is read as `${NAME}`';
export const BARE_VARIABLE_NOTE =
  'contains `$NAME`, which is a variable in Gemini CLI and plain text here; write `${NAME}` for an environment variable';
