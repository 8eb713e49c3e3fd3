import type { Era } from '../errors.js';
import { NAME_MARK, publicText, SERVER_MARK } from '../catalog/public-text.js';
import { withPublicUi } from '../resources/public-uris.js';
import { resourceForm } from '../resources/resource-uri.js';

/** A tool, prompt, resource or template as its server listed it. */
export interface Definition {
  /** The own name, URI or URI template. */
  readonly name: string;
  /** The definition as JSON. */
  readonly text: string;
  /** Only of tools: the text for clients of the 2026 era, if it differs. */
  readonly modernText?: string;
  /** Title and description are stored only for tools and prompts, because a server may list a million resources. */
  readonly title?: string;
  readonly description?: string;
  /** Only of tools: whether `text` has the server's output schema wrapped in a schema of an object (`objectOutputSchema`). */
  readonly wrapsOutput?: boolean;
  /**
   * Only of tools: the arguments that requests repeat in HTTP headers, because the input schema declares such headers
   * (`ParamHeader`). Absent when there are none.
   */
  readonly paramHeaders?: readonly { readonly name: string; readonly path: readonly string[] }[];
}

/** The server id of meta tools. Every scope includes them, and no configured server can have this id. */
export const META_TOOL_SERVER = '';

/** The value of `SERVER_MARK` in meta tools. */
export const GATEWAY_NAME = 'gatehouse';

/** A definition under its public name. */
export class CatalogEntry {
  private cachedText: string | undefined;
  private cachedModernText: string | undefined;
  /** By public name: copies of this entry, for scopes where it has another name than `publicName`. */
  private renamed: Map<string | undefined, CatalogEntry> | undefined;

  constructor(
    readonly server: string,
    readonly ownName: string,
    /**
     * Undefined in a scope that does not list the entry, because its name belongs to another server and style `never`
     * forbids a prefix.
     */
    readonly publicName: string | undefined,
    readonly definition: Definition,
  ) {}

  /** The definition as clients see it: under its public name, with the mark of its server and public URIs. */
  get text(): string {
    return (this.cachedText ??= this.createText(this.definition.text));
  }

  /** The text for clients of the 2026 era, if it differs. */
  get modernText(): string | undefined {
    const { modernText } = this.definition;
    if (modernText === undefined) return undefined;
    return (this.cachedModernText ??= this.createText(modernText));
  }

  textFor(era: Era): string {
    return (era === '2026' ? this.modernText : undefined) ?? this.text;
  }

  /** Whether clients see no difference between this and another entry of the same server. */
  isSame({ publicName, definition }: CatalogEntry): boolean {
    return (
      publicName === this.publicName &&
      definition.text === this.definition.text &&
      definition.modernText === this.definition.modernText
    );
  }

  /** The same definition under another public name. Returns the same object for the same name. */
  withName(publicName: string | undefined): CatalogEntry {
    if (publicName === this.publicName) return this;
    this.renamed ??= new Map();
    let entry = this.renamed.get(publicName);
    if (!entry) {
      entry = new CatalogEntry(this.server, this.ownName, publicName, this.definition);
      this.renamed.set(publicName, entry);
    }
    return entry;
  }

  private createText(ownText: string): string {
    // An entry without a public name is described under its own name.
    const { server, ownName, publicName = ownName } = this;
    const marks = {
      [SERVER_MARK]: server === META_TOOL_SERVER ? GATEWAY_NAME : server,
      [NAME_MARK]: ownName,
    };
    const text = publicText(ownText, 'name', publicName, marks);
    if (server === META_TOOL_SERVER) return text;
    return withPublicUi(text, (uri) => resourceForm({ server, uri }));
  }
}

/** An entry with a public name: it is listed. */
export type ListedEntry = CatalogEntry & { readonly publicName: string };
