import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsOptional,
  IsString,
  Matches,
  MaxLength,
} from 'class-validator';
import { DecisionDto } from './decision.dto.js';
import { SERVER_ID } from '../../config/servers-config.js';

const MAX_SERVERS = 10_000;
const MAX_DESCRIPTION_LENGTH = 1000;

/** Body of `PUT /admin/v1/projects/{id}`. */
export class ProjectBodyDto {
  /** Ids of the servers that the project shows. */
  @IsArray()
  @ArrayMaxSize(MAX_SERVERS)
  @ArrayUnique()
  @IsString({ each: true })
  @Matches(SERVER_ID.pattern, { each: true, message: SERVER_ID.requirement })
  readonly servers: string[];

  @IsOptional()
  @IsString()
  @MaxLength(MAX_DESCRIPTION_LENGTH)
  readonly description?: string;
}

export class ProjectDto {
  readonly id: string;

  /** Ids of the servers that the project shows. */
  readonly servers: string[];

  readonly description?: string | undefined;

  /** Where the definition comes from: the configuration file or the admin API. */
  readonly origin: 'config' | 'admin';

  /** The decision about the project. */
  readonly decision?: DecisionDto;
}

export class ProjectsDto {
  readonly projects: ProjectDto[];
}
