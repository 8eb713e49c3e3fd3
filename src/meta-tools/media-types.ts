/** The media type without parameters such as the character set; empty without a type. */
export const withoutParameters = (mimeType = ''): string => mimeType.split(';', 1)[0]!.trim().toLowerCase();

/** Filter for a media type or a wildcard such as `image/*`. An empty type never matches. */
export function mediaTypeFilter(wanted: string): (type: string) => boolean {
  const filter = withoutParameters(wanted);
  if (filter === '*/*') return (type) => type !== '';
  if (!filter.endsWith('/*')) return (type) => type !== '' && type === filter;
  const prefix = filter.slice(0, -1);
  return (type) => type.startsWith(prefix);
}
