import { IsOptional, IsString, MaxLength, ValidateBy } from 'class-validator';
import { isUriTooLong, MAX_URI_BYTES } from '../core/resources/resource-uri.js';
import { ListQuery } from './list-query.js';

/** What narrows the list of subscriptions down. */
export class SubscriptionQuery extends ListQuery {
  /** A session, as the list of sessions calls it. */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  readonly client?: string;

  /** In any form. */
  @IsOptional()
  @IsString()
  @ValidateBy({
    name: 'longestUri',
    validator: {
      validate: (uri) => typeof uri !== 'string' || !isUriTooLong(uri),
      defaultMessage: () => `uri must not be longer than ${MAX_URI_BYTES} bytes`,
    },
  })
  readonly uri?: string;
}
