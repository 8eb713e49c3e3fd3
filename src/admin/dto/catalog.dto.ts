import { IsInt, Min } from 'class-validator';
import type { JsonObject } from '../../lib/json-text/json-value.js';
import { DecisionDto } from './decision.dto.js';

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

export class ToolDto extends CatalogItemDto {
  /** Whether the definition of the server (`config`) or a decision (`admin`) enables the tool. */
  readonly origin: 'config' | 'admin';

  /** The decision about the tool. */
  readonly decision?: DecisionDto;
}

export class ToolsDto {
  readonly tools: ToolDto[];

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

  /**
   * An identifier without special characters; unique in the gateway. MCP requests and the meta tool `describe_resource`
   * accept it in place of the URI.
   */
  readonly id: string;

  /**
   * Number of sessions and listen streams that receive updates of the resource. They are subscribed to its URI, to a
   * pattern that matches it, or to a resource that it is a part of.
   */
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

  /** Number of entries on all pages together. */
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

  /**
   * An identifier without special characters outside its expressions; unique in the gateway. MCP requests and the meta tool
   * `describe_resource` accept it in place of the URI template.
   */
  readonly id: string;

  /** The definition that clients receive. */
  readonly definition: JsonObject;
}

export class ResourceTemplatesDto {
  readonly resourceTemplates: ResourceTemplateDto[];

  /** Cursor of the next page. Absent on the last page. */
  readonly nextCursor?: string;

  /** Number of entries on all pages together. */
  @IsInt()
  @Min(0)
  readonly total: number;
}
