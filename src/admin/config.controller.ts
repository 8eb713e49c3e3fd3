import { Get, HttpCode, Post } from '@nestjs/common';
import { ConfigReloader, type ReloadOutcome } from '../config/config-reloader.js';
import { AdminController } from './admin-controller.js';
import { AdminProblem } from './admin-problem.js';
import { AskedBy, type Asked } from './asked.js';
import { Changes } from './changes.js';

export interface ConfigView {
  readonly ok: boolean;
  readonly at: string;
  readonly problem?: string;
}

@AdminController('config')
export class ConfigController {
  constructor(
    private readonly reloader: ConfigReloader,
    private readonly changes: Changes,
  ) {}

  /** How the last reload went. */
  @Get()
  get(): ConfigView {
    return configView(this.reloader.lastOutcome);
  }

  @Post('reload')
  @HttpCode(200)
  async reload(@AskedBy() by: Asked): Promise<ConfigView> {
    await this.changes.make(by, { action: 'config.reload', target: 'config' }, () => ({
      apply: () => this.reloadOrThrow(),
    }));
    return this.get();
  }

  private reloadOrThrow(): void {
    const { ok, problem = '' } = this.reloader.reload();
    if (!ok) throw new AdminProblem('invalid-config', problem);
  }
}

export const configView = ({ ok, at, problem }: ReloadOutcome): ConfigView => ({
  ok,
  at: at.toISOString(),
  ...(problem === undefined ? {} : { problem }),
});
