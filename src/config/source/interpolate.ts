export type Environment = Readonly<Record<string, string | undefined>>;

export interface Interpolated {
  readonly text: string;
  /** The variables whose values are now part of the text. */
  readonly used: readonly string[];
  readonly problems: readonly string[];
}

const REFERENCE = /\$\$\{|\$\{(?:([^}]*)\})?/g;
const VARIABLE = /^([A-Za-z_]\w*)(?::-(.*))?$/s;

/**
 * Puts variables into a text: `${NAME}`, or `${NAME:-default}` where an unset or empty variable will do.
 * `$${` stands for a plain `${`. What is put in is not looked at again, so a value cannot refer to another.
 */
export function interpolate(text: string, env: Environment): Interpolated {
  const used: string[] = [];
  const problems: string[] = [];
  const lookUp = (reference: string, inside: string | undefined): string => {
    if (reference === '$${') return '${';
    const [, name = '', fallback] = VARIABLE.exec(inside ?? '') ?? [];
    if (name === '' || fallback?.includes('${')) {
      problems.push(`\`${reference}\` is neither \${NAME} nor \${NAME:-default}; write $\${ for a plain \${`);
      return reference;
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value !== undefined && (value !== '' || fallback === undefined)) {
      used.push(name);
      return value;
    }
    if (fallback === undefined) problems.push(`the environment variable ${name} is not set`);
    return fallback ?? reference;
  };
  return { text: text.replace(REFERENCE, lookUp), used, problems };
}
