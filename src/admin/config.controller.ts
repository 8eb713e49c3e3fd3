import { Get, HttpCode, Post } from '@nestjs/common';
import { ConfigReloader, type ReloadOutcome } from '../config/config-reloader.js';
import { AdminController } from './admin-controller.js';
import { AdminProblem } from './admin-problem.js';
import { CurrentCaller, type AdminCaller } from './admin-caller.js';
import { AdminActions } from './admin-actions.js';

export interface ConfigStatusDto {
  readonly ok: boolean;
  readonly at: string;
  readonly problem?: string;
}

@AdminController('config')
export class ConfigController {
  constructor(
    private readonly reloader: ConfigReloader,
    private readonly changes: AdminActions,
  ) {}

  /** How the last reload went. */
  @Get()
  get(): ConfigStatusDto {
    return configStatusDto(this.reloader.lastOutcome);
  }

  @Post('reload')
  @HttpCode(200)
  async reload(@CurrentCaller() by: AdminCaller): Promise<ConfigStatusDto> {
    await this.changes.run(by, { action: 'config.reload', target: 'config' }, () => ({
      apply: () => this.reloadOrThrow(),
    }));
    return this.get();
  }

  private reloadOrThrow(): void {
    const { ok, problem = '' } = this.reloader.reload();
    if (!ok) throw new AdminProblem('invalid-config', problem);
  }
}

export const configStatusDto = ({ ok, at, problem }: ReloadOutcome): ConfigStatusDto => ({
  ok,
  at: at.toISOString(),
  ...(problem === undefined ? {} : { problem }),
});
