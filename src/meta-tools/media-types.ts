/** The media type without parameters such as the character set. Empty if no type is given. */
export const withoutParameters = (mimeType = ''): string => mimeType.split(';', 1)[0]!.trim().toLowerCase();

/**
 * Returns a function that tests whether a type matches a media type or a wildcard such as `image/*`. An empty type
 * never does.
 */
export function mediaTypeFilter(pattern: string): (type: string) => boolean {
  const wanted = withoutParameters(pattern);
  if (wanted === '*/*') return (type) => type !== '';
  if (!wanted.endsWith('/*')) return (type) => type !== '' && type === wanted;
  const prefix = wanted.slice(0, -1);
  return (type) => type.startsWith(prefix);
}
