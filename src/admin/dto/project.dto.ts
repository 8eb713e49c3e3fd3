import { ArrayMaxSize, IsArray, IsOptional, IsString, Matches, MaxLength, ValidateBy } from 'class-validator';
import { DecisionDto } from './decision.dto.js';
import { SERVER_ID } from '../../config/servers-config.js';

const MAX_SERVERS = 10_000;
const MAX_DESCRIPTION_LENGTH = 1000;

/** Replaces `ArrayUnique` of class-validator, which takes time that grows with the square of the length. */
const UNIQUE = {
  name: 'arrayUnique',
  validator: {
    validate: (ids: unknown): boolean => !Array.isArray(ids) || new Set(ids).size === ids.length,
    defaultMessage: (): string => "All servers's elements must be unique",
  },
};

/** Body of `PUT /admin/v1/projects/{id}`. */
export class ProjectBodyDto {
  /** Ids of the servers that the project shows. */
  @IsArray()
  @ArrayMaxSize(MAX_SERVERS)
  @ValidateBy(UNIQUE)
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
