/** A type as it is compared: without its parameters, such as the character set. Empty for none. */
export const bareType = (mimeType = ''): string => mimeType.split(';', 1)[0]!.trim().toLowerCase();

/** Says of types whether they are the wanted one, or of the wanted kind: `image/*`. */
export function typeFilter(wanted: string): (type: string) => boolean {
  const whole = bareType(wanted);
  const kind = whole.endsWith('/*') ? whole.slice(0, -1) : undefined;
  return (type) => {
    if (type === '') return false;
    return kind === undefined ? type === whole : kind === '*/' || type.startsWith(kind);
  };
}
