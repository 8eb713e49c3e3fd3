import { IsOptional, IsString, MaxLength } from 'class-validator';
import { CatalogQuery } from './catalog-query.js';

/** What narrows the list of subscriptions down. */
export class SubscriptionQuery extends CatalogQuery {
  /** A session, as the list of sessions calls it. */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  readonly client?: string;

  /** In any form. */
  @IsOptional()
  @IsString()
  @MaxLength(8192)
  readonly uri?: string;
}
