import { IsInt, IsISO8601, Min } from 'class-validator';
import { DecisionDto } from './decision.dto.js';

/** An API key of the configuration file. */
export class KeyDto {
  readonly id: string;

  readonly state: 'active' | 'expired' | 'revoked';

  /** Projects that the key grants, or `*` for all. */
  readonly projects: string[];

  @IsISO8601()
  readonly expires?: string;

  /** Open sessions of clients with this key. */
  @IsInt()
  @Min(0)
  readonly sessions: number;

  /** The revocation. */
  readonly decision?: DecisionDto;
}

export class KeysDto {
  readonly keys: KeyDto[];
}
