import { IsISO8601 } from 'class-validator';

/** Outcome of the last reload of the configuration. */
export class ConfigDto {
  /** Whether the configuration was accepted. */
  readonly ok: boolean;

  @IsISO8601()
  readonly at: string;

  /** Why the configuration was rejected. */
  readonly problem?: string;

  /** Keys whose values in the last valid file apply only after a restart. */
  readonly restartNeeded: string[];

  /** Ids of the decisions that overrule the file. */
  readonly overruledBy: string[];
}
