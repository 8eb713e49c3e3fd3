/** Names of variables that have a value only inside an editor, such as the open file. */
const EDITOR_VARIABLE =
  /^(userHome|pathSeparator|workspace\w*|file\w*|relativeFile\w*|cwd|execPath|lineNumber|selectedText|defaultBuildTask)$/;

/**
 * Matches the text that editors write between `${` and `}` for an environment variable, an input, a setting or a command, and
 * `/`, which stands for the path separator.
 */
const EDITOR_REFERENCE = /^(env|input|config|command):|^\/$/;

export const isEditorVariable = (name: string): boolean => EDITOR_VARIABLE.test(name);

/** A hint for a problem message if editors have a variable `${inside}`; otherwise empty. */
export const editorVariableHint = (inside: string): string =>
  EDITOR_REFERENCE.test(inside) || isEditorVariable(inside)
    ? '; variables of editors are converted by `gatehouse config import`'
    : '';
