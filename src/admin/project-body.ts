import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsOptional,
  IsString,
  Matches,
  MaxLength,
} from 'class-validator';
import { SERVER_ID } from '../config/servers-config.js';

const MOST_SERVERS = 10_000;
const LONGEST_DESCRIPTION = 1000;

/** A project, as it is to be. */
export class ProjectBody {
  @IsArray()
  @ArrayMaxSize(MOST_SERVERS)
  @ArrayUnique()
  @IsString({ each: true })
  @Matches(SERVER_ID.pattern, { each: true, message: SERVER_ID.says })
  readonly servers: string[];

  @IsOptional()
  @IsString()
  @MaxLength(LONGEST_DESCRIPTION)
  readonly description?: string;
}
