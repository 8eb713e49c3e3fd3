import { Transform } from 'class-transformer';
import { IsInt, IsOptional, IsString, Max, MaxLength, Min, ValidateBy } from 'class-validator';
import { isUriTooLong, MAX_URI_BYTES } from '../../core/resources/resource-uri.js';

const MAX_QUERY_LENGTH = 256;
const MAX_ID_LENGTH = 64;
const MAX_PAGE_SIZE = 1000;
export const DEFAULT_PAGE_SIZE = 200;

/** Query parameters of every list that comes in pages. */
export class CursorQuery {
  /**
   * Words that must all occur in the entry. They are searched in its name, title and description; for a subscription, in
   * its URIs, server and client; for a session, in its id, client and principal. Tools, prompts and resources are listed
   * by relevance, best match first.
   */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_QUERY_LENGTH)
  readonly q?: string;

  /** `nextCursor` of the previous page. */
  @IsOptional()
  @IsString()
  readonly cursor?: string;

  /** Maximum number of entries on a page; 200 if not given. */
  @IsOptional()
  @Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value,
  )
  @IsInt()
  @Min(1)
  @Max(MAX_PAGE_SIZE)
  readonly limit?: number;
}

export class PagedQuery extends CursorQuery {
  /** Only entries that this project shows; for sessions, only those that were opened in it. */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_ID_LENGTH)
  readonly project?: string;
}

export class SessionQuery extends PagedQuery {}

/** Query parameters of the lists of tools, prompts, resources and templates. */
export class ListQuery extends PagedQuery {
  /** Only entries of this server. */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_ID_LENGTH)
  readonly server?: string;
}

/** Query parameters of the lists of the tools and resources that one session sees. */
export class SessionCatalogQuery extends CursorQuery {
  /** Only entries of this server. */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_ID_LENGTH)
  readonly server?: string;
}

export class SubscriptionQuery extends ListQuery {
  /** Only subscriptions of this session, by its id in the list of sessions. */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_ID_LENGTH)
  readonly client?: string;

  /** Only subscriptions to this resource, by any form of its URI. */
  @IsOptional()
  @IsString()
  @ValidateBy({
    name: 'maxUriBytes',
    validator: {
      validate: (uri) => typeof uri !== 'string' || !isUriTooLong(uri),
      defaultMessage: () => `uri must not be longer than ${MAX_URI_BYTES} bytes`,
    },
  })
  readonly uri?: string;
}
