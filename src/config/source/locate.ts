import { formatPath } from '../problems.js';
import { allKeysOf, childShape, type Shape } from '../schema/shape.js';
import { unknownKey } from '../schema/suggest.js';

interface LocatedKey {
  readonly path: readonly string[];
  readonly shape: Shape;
}

/** One key of the path. */
interface Step {
  readonly name: string;
  /** Number of segments that form the name: more than one if the name itself contains a double underscore. */
  readonly segmentCount: number;
}

interface LocateFailure {
  readonly problem: string;
}

/**
 * Finds the key that an environment variable overrides. Double underscores divide the name of the variable into segments.
 * `segments` are those that come after `path`. `node` is the value of the document at `path`, and `shape` is the shape of
 * that value.
 */
export function locate(
  segments: readonly string[],
  shape: Shape,
  node: unknown,
  path: readonly string[] = [],
): LocatedKey | LocateFailure {
  if (segments.length === 0) return { path, shape };
  if (segments.includes('')) return { problem: 'a name is missing between its double underscores' };
  const mapping = node instanceof Map ? (node as ReadonlyMap<string, unknown>) : new Map<string, unknown>();
  const step = stepInto(shape, segments, [...mapping.keys()], path);
  if ('problem' in step) return step;
  // `stepInto` returns only names that have a shape.
  const child = childShape(shape, step.name)!;
  return locate(segments.slice(step.segmentCount), child, mapping.get(step.name), [...path, step.name]);
}

/** Finds the next key of the path. `names` are the existing names in the mapping at `path`. */
function stepInto(
  shape: Shape,
  segments: readonly string[],
  names: readonly string[],
  path: readonly string[],
): Step | LocateFailure {
  const [first = ''] = segments;
  switch (shape.kind) {
    case 'section': {
      const keys = [...allKeysOf(shape).keys()];
      const name = keys.find((key) => lower(key) === lower(first));
      const where = path.length > 0 ? ` in ${formatPath(path)}` : '';
      return name === undefined ? { problem: unknownKey(first, keys, where) } : { name, segmentCount: 1 };
    }
    case 'sectionRecord':
      return findLongestExisting(segments, names) ?? { name: lower(first), segmentCount: 1 };
    case 'textRecord': {
      const joined = segments.join('__');
      return findExisting(joined, names, segments.length) ?? { name: joined, segmentCount: segments.length };
    }
    default:
      return { problem: `${formatPath(path)} has no keys of its own; set it as a whole` };
  }
}

/** Finds the longest existing name that the first segments form. */
function findLongestExisting(
  segments: readonly string[],
  names: readonly string[],
): Step | LocateFailure | undefined {
  for (let segmentCount = segments.length; segmentCount > 0; segmentCount--) {
    const step = findExisting(segments.slice(0, segmentCount).join('__'), names, segmentCount);
    if (step) return step;
  }
  return undefined;
}

/**
 * Finds an existing name, ignoring case. If there is none, `_` also matches `-` and `.`, because the name of an environment
 * variable cannot contain these two.
 */
function findExisting(
  joined: string,
  names: readonly string[],
  segmentCount: number,
): Step | LocateFailure | undefined {
  for (const normalize of [lower, underscored]) {
    const [name, other] = names.filter((candidate) => normalize(candidate) === normalize(joined));
    if (other !== undefined) return { problem: `\`${joined}\` could mean ${name} or ${other}` };
    if (name !== undefined) return { name, segmentCount };
  }
  return undefined;
}

const lower = (name: string): string => name.toLowerCase();
const underscored = (name: string): string => lower(name).replaceAll(/[-.]/g, '_');
