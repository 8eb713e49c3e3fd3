/**
 * Converts MIME types to label values: without parameters, and at most `maxTypes` different values. Further types get the
 * label `_other`.
 */
export class MimeTypeLabels {
  private readonly types = new Set<string>();

  constructor(private readonly maxTypes = 50) {}

  of(mimeType: string | undefined): string {
    if (mimeType === undefined) return '_none';
    const type = mimeType.split(';', 1)[0]!.trim().toLowerCase();
    if (this.types.has(type)) return type;
    if (!MIME_TYPE.test(type) || this.types.size >= this.maxTypes) return '_other';
    this.types.add(type);
    return type;
  }
}

const MIME_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$/;
