/** Names of variables that have a value only inside an editor, such as the open file. */
const EDITOR_VARIABLE =
  /^(userHome|pathSeparator|workspace\w*|file\w*|relativeFile\w*|cwd|execPath|lineNumber|selectedText|defaultBuildTask)$/;

/** References to the environment, to an input or to a setting, as editors write them. */
const EDITOR_REFERENCE = /^(env|input|config|command):|^\/$/;

export const isEditorVariable = (name: string): boolean => EDITOR_VARIABLE.test(name);

/** A hint for a problem message if an editor would replace the reference with this text between its braces; otherwise empty. */
export const hintFor = (inside: string): string =>
  EDITOR_REFERENCE.test(inside) || isEditorVariable(inside)
    ? '; variables of editors are converted by `gatehouse config import`'
    : '';
