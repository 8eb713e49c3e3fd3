import { Get, HttpCode, Post } from '@nestjs/common';
import { ConfigReloader, type ReloadOutcome } from '../config/config-reloader.js';
import { DecisionReview } from '../decisions/decision-review.js';
import { AdminActions } from './admin-actions.js';
import { CurrentCaller, type AdminCaller } from './admin-caller.js';
import { AdminController } from './admin-controller.js';
import { AdminProblem } from './admin-problem.js';
import { ConfigDto } from './dto/config.dto.js';

@AdminController('config')
export class ConfigController {
  constructor(
    private readonly reloader: ConfigReloader,
    private readonly actions: AdminActions,
    private readonly review: DecisionReview,
  ) {}

  /** Shows the outcome of the last reload of the configuration */
  @Get()
  getConfig(): ConfigDto {
    return configDto(this.reloader.lastOutcome, this.review.overruling());
  }

  /**
   * Reads the configuration file again
   *
   * @throws {422} The configuration file is not valid; the previous configuration stays in use.
   */
  @Post('reload')
  @HttpCode(200)
  async reloadConfig(@CurrentCaller() caller: AdminCaller): Promise<ConfigDto> {
    await this.actions.run(caller, { action: 'config.reload', target: 'config' }, () => ({
      apply: () => this.reloadOrThrow(),
    }));
    return this.getConfig();
  }

  private reloadOrThrow(): void {
    const { ok, problem = '' } = this.reloader.reload();
    if (!ok) throw new AdminProblem('invalid-config', problem);
  }
}

export const configDto = (
  { ok, at, problem, restartNeeded }: ReloadOutcome,
  overruledBy: string[],
): ConfigDto => ({
  ok,
  at: at.toISOString(),
  ...(problem === undefined ? {} : { problem }),
  restartNeeded: [...restartNeeded],
  overruledBy,
});
