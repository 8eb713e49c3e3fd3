/** The media type without parameters such as the character set; empty without a type. */
export const withoutParameters = (mimeType = ''): string => mimeType.split(';', 1)[0]!.trim().toLowerCase();

/** Filter for a media type or a wildcard such as `image/*`. */
export function mediaTypeFilter(wanted: string): (type: string) => boolean {
  const whole = withoutParameters(wanted);
  const kind = whole.endsWith('/*') ? whole.slice(0, -1) : undefined;
  return (type) => {
    if (type === '') return false;
    return kind === undefined ? type === whole : kind === '*/' || type.startsWith(kind);
  };
}
