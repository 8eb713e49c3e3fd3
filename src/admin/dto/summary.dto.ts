import { IsInt, Min } from 'class-validator';

export class ServerTotalsDto {
  @IsInt()
  @Min(0)
  readonly total: number;

  @IsInt()
  @Min(0)
  readonly enabled: number;

  @IsInt()
  @Min(0)
  readonly ready: number;
}

/** Counts of what the gateway has. */
export class SummaryDto {
  readonly servers: ServerTotalsDto;

  /** Tools of all servers, without those that are switched off. */
  @IsInt()
  @Min(0)
  readonly tools: number;

  @IsInt()
  @Min(0)
  readonly prompts: number;

  @IsInt()
  @Min(0)
  readonly resources: number;

  @IsInt()
  @Min(0)
  readonly resourceTemplates: number;

  @IsInt()
  @Min(0)
  readonly projects: number;

  @IsInt()
  @Min(0)
  readonly sessions: number;

  @IsInt()
  @Min(0)
  readonly subscriptions: number;
}
