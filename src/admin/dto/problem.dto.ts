import { IsInt } from 'class-validator';
import type { ProblemKind } from '../admin-problem.js';

export class FieldErrorDto {
  /** Path of the field in the body, or name of the parameter. */
  readonly field: string;

  readonly message: string;
}

/** Problem details (RFC 9457) of a request that was refused or has failed. */
export class ProblemDto {
  readonly type: `urn:gatehouse:problem:${ProblemKind}`;

  readonly title: string;

  @IsInt()
  readonly status: number;

  readonly detail: string;

  readonly requestId: string;

  readonly errors?: FieldErrorDto[];
}
