/** So many are kept once for all who have them; servers use few, and may make up any number. */
const MOST_SHARED = 1000;

/** Without its parameters, such as the character set. */
const bareType = (mimeType: string): string => mimeType.split(';', 1)[0]!.trim().toLowerCase();

/** The types of many documents, each kept once. */
export class MimeTypes {
  private readonly shared = new Map<string, string>();

  /** As it is compared; empty for none. */
  of(mimeType: string | undefined): string {
    const type = bareType(mimeType ?? '');
    const before = this.shared.get(type);
    if (before !== undefined) return before;
    if (this.shared.size < MOST_SHARED) this.shared.set(type, type);
    return type;
  }
}

/** Says of types whether they are the wanted one, or of the wanted kind: `image/*`. Each is looked at once. */
export function typeFilter(wanted: string): (type: string) => boolean {
  const whole = bareType(wanted);
  const kind = whole.endsWith('/*') ? whole.slice(0, -1) : undefined;
  const fits = (type: string): boolean => {
    if (type === '') return false;
    return kind === undefined ? type === whole : kind === '*/' || type.startsWith(kind);
  };
  const known = new Map<string, boolean>();
  return (type) => {
    let is = known.get(type);
    if (is === undefined) known.set(type, (is = fits(type)));
    return is;
  };
}
