import { IsISO8601 } from 'class-validator';

/** A decision of an administrator, compared with the configuration file. */
export class DecisionDto {
  /** `server:<id>:enabled`, `server:<id>:definition`, `tool:<server>:<own name>`, `project:<id>` or `key:<id>`. */
  readonly id: string;

  readonly kind: 'server' | 'tool' | 'project' | 'key';

  /** Id of the server, project or key. */
  readonly target: string;

  /** The server's own name of the tool. */
  readonly tool?: string;

  readonly change: 'enabled' | 'disabled' | 'defined' | 'removed' | 'revoked';

  /** `ignored`: `decisions.policy` is `file`. `unused`: its server, project or key does not exist. */
  readonly effect: 'applied' | 'ignored' | 'unused';

  /** Whether it applies in place of a different value in the configuration file. */
  readonly overrules: boolean;

  /** Whether it is an emergency switch: it overrules the file although `decisions.policy` is `file`. */
  readonly emergency: boolean;

  /** Role of the administrator. Absent if the decision was made by a version that did not record it. */
  readonly by?: string;

  /** When the decision was made. */
  @IsISO8601()
  readonly at?: string;
}

export class DecisionsDto {
  readonly policy: 'overlay' | 'file';

  readonly decisions: DecisionDto[];
}
