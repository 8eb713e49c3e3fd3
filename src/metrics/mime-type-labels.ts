/** MIME types as bounded label values: without parameters, and at most a fixed number of distinct ones. */
export class MimeTypeLabels {
  private readonly known = new Set<string>();

  constructor(private readonly maxTypes = 50) {}

  of(mimeType: string | undefined): string {
    if (mimeType === undefined) return '_none';
    const type = mimeType.split(';', 1)[0]!.trim().toLowerCase();
    if (this.known.has(type)) return type;
    if (!TYPE.test(type) || this.known.size >= this.maxTypes) return '_other';
    this.known.add(type);
    return type;
  }
}

const TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$/;
