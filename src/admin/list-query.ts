import { Transform } from 'class-transformer';
import { IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';

const LONGEST_QUERY = 256;
const LONGEST_ID = 64;
const MOST = 1000;

/** What narrows a list of the catalog down. */
export class ListQuery {
  @IsOptional()
  @IsString()
  @MaxLength(LONGEST_ID)
  readonly server?: string;

  @IsOptional()
  @IsString()
  @MaxLength(LONGEST_ID)
  readonly project?: string;

  /** Words that must all occur in the name, title or description. */
  @IsOptional()
  @IsString()
  @MaxLength(LONGEST_QUERY)
  readonly q?: string;

  @IsOptional()
  @IsString()
  readonly cursor?: string;

  @IsOptional()
  @Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value,
  )
  @IsInt()
  @Min(1)
  @Max(MOST)
  readonly limit?: number;
}
