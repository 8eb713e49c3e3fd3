import { editorVariableHint } from './client-variables.js';

export type Environment = Readonly<Record<string, string | undefined>>;

interface Interpolated {
  readonly text: string;
  /** The variables whose values were inserted. */
  readonly usedVariables: readonly string[];
  readonly problems: readonly string[];
}

/** Matches `$${`, or `${` up to its `}` if there is one, and captures what stands inside the braces. */
const REFERENCE = /\$\$\{|\$\{(?:([^}]*)\})?/g;
/** Captures name and default of `NAME` or `NAME:-default`. */
const VARIABLE = /^([A-Za-z_]\w*)(?::-(.*))?$/s;

/**
 * Replaces `${NAME}` and `${NAME:-default}`; the default is used if the variable is unset or empty. `$${` is an escaped
 * `${`. Inserted values are not interpolated again.
 */
export function interpolate(text: string, env: Environment): Interpolated {
  const usedVariables: string[] = [];
  const problems: string[] = [];
  const replacementOf = (reference: string, inside: string | undefined): string => {
    if (reference === '$${') return '${';
    const [, name = '', fallback] = VARIABLE.exec(inside ?? '') ?? [];
    const isNested = fallback?.includes('${') === true;
    if (name === '' || isNested) {
      problems.push(
        `\`${reference}\` is neither \${NAME} nor \${NAME:-default}; write $\${ for a literal \${${editorVariableHint(inside ?? '')}`,
      );
      return reference;
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value !== undefined && (value !== '' || fallback === undefined)) {
      usedVariables.push(name);
      return value;
    }
    if (fallback === undefined)
      problems.push(`the environment variable ${name} is not set${editorVariableHint(name)}`);
    return fallback ?? reference;
  };
  return { text: text.replace(REFERENCE, replacementOf), usedVariables, problems };
}
