import { formatPath } from '../problems.js';
import { allKeysOf, childShape, type Shape } from '../schema/shape.js';
import { unknownKey } from '../schema/suggest.js';

interface Found {
  readonly path: readonly string[];
  readonly shape: Shape;
}

interface Step {
  readonly name: string;
  /** Number of segments of the name, which may itself contain the double underscore. */
  readonly taken: number;
}

interface Lost {
  readonly problem: string;
}

/** Finds the key for the segments of a variable name, which have neither camelCase nor dashes. */
export function locate(
  segments: readonly string[],
  shape: Shape,
  node: unknown,
  path: readonly string[] = [],
): Found | Lost {
  if (segments.length === 0) return { path, shape };
  if (segments.includes('')) return { problem: 'a name is missing between its double underscores' };
  const mapping = node instanceof Map ? (node as ReadonlyMap<string, unknown>) : new Map<string, unknown>();
  const step = stepInto(shape, segments, [...mapping.keys()], path);
  if ('problem' in step) return step;
  const below = childShape(shape, step.name) ?? shape;
  return locate(segments.slice(step.taken), below, mapping.get(step.name), [...path, step.name]);
}

function stepInto(
  shape: Shape,
  segments: readonly string[],
  names: readonly string[],
  path: readonly string[],
): Step | Lost {
  const [first = ''] = segments;
  switch (shape.kind) {
    case 'section': {
      const keys = [...allKeysOf(shape).keys()];
      const name = keys.find((key) => lower(key) === lower(first));
      const where = path.length > 0 ? ` in ${formatPath(path)}` : '';
      return name === undefined ? { problem: unknownKey(first, keys, where) } : { name, taken: 1 };
    }
    case 'entries':
      return longestExisting(segments, names) ?? { name: lower(first), taken: 1 };
    case 'record': {
      const written = segments.join('__');
      return existing(written, names, segments.length) ?? { name: written, taken: segments.length };
    }
    default:
      return { problem: `${formatPath(path)} is a single value, which must be given as a whole` };
  }
}

function longestExisting(segments: readonly string[], names: readonly string[]): Step | Lost | undefined {
  for (let taken = segments.length; taken > 0; taken--) {
    const step = existing(segments.slice(0, taken).join('__'), names, taken);
    if (step) return step;
  }
  return undefined;
}

/** Case-insensitive. Without a match, `_` also matches `-` and `.`, which variable names cannot contain. */
function existing(written: string, names: readonly string[], taken: number): Step | Lost | undefined {
  for (const fold of [lower, underscored]) {
    const [name, other] = names.filter((candidate) => fold(candidate) === fold(written));
    if (other !== undefined) return { problem: `\`${written}\` could mean ${name} or ${other}` };
    if (name !== undefined) return { name, taken };
  }
  return undefined;
}

const lower = (name: string): string => name.toLowerCase();
const underscored = (name: string): string => lower(name).replaceAll(/[-.]/g, '_');
