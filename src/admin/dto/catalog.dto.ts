import { IsInt, Min } from 'class-validator';
import type { JsonObject } from '../../lib/json-text/json-value.js';

/** A tool or a prompt. */
export class CatalogItemDto {
  /** The public name. */
  readonly name: string;

  readonly server: string;

  /** The server's own name. */
  readonly ownName: string;

  /**
   * The same as `ownName`.
   *
   * @deprecated Read `ownName`.
   */
  readonly own: string;

  /** The definition that clients receive. */
  readonly definition: JsonObject;
}

export class ToolsDto {
  readonly tools: CatalogItemDto[];

  /** Cursor of the next page. Absent on the last page. */
  readonly nextCursor?: string;
}

export class PromptsDto {
  readonly prompts: CatalogItemDto[];

  /** Cursor of the next page. Absent on the last page. */
  readonly nextCursor?: string;
}

export class ResourceDto {
  /** The public URI. */
  readonly uri: string;

  readonly server: string;

  /** The server's own URI. */
  readonly ownUri: string;

  /**
   * The same as `ownUri`.
   *
   * @deprecated Read `ownUri`.
   */
  readonly original: string;

  /** A short id for tool arguments; unique in the gateway. */
  readonly id: string;

  /** Sessions that receive updates of the resource: by its URI, by a pattern, or by a resource that contains it. */
  @IsInt()
  @Min(0)
  readonly subscribers: number;

  /** The definition that clients receive. */
  readonly definition: JsonObject;
}

export class ResourcesDto {
  readonly resources: ResourceDto[];

  /** Cursor of the next page. Absent on the last page. */
  readonly nextCursor?: string;

  /** Entries on all pages. */
  @IsInt()
  @Min(0)
  readonly total: number;
}

export class ResourceTemplateDto {
  /** The public URI template. */
  readonly uriTemplate: string;

  readonly server: string;

  /** The server's own URI template. */
  readonly ownUri: string;

  /**
   * The same as `ownUri`.
   *
   * @deprecated Read `ownUri`.
   */
  readonly original: string;

  /** A short id; unique in the gateway. */
  readonly id: string;

  /** The definition that clients receive. */
  readonly definition: JsonObject;
}

export class ResourceTemplatesDto {
  readonly resourceTemplates: ResourceTemplateDto[];

  /** Cursor of the next page. Absent on the last page. */
  readonly nextCursor?: string;

  /** Entries on all pages. */
  @IsInt()
  @Min(0)
  readonly total: number;
}
