import { Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { CurrentCaller, type AdminCaller } from './admin-caller.js';
import { AdminController } from './admin-controller.js';
import { DecisionAdmin } from './decision-admin.js';
import { DecisionsDto } from './dto/decision.dto.js';
import { KeyDto, KeysDto } from './dto/key.dto.js';

@AdminController('decisions')
export class DecisionsController {
  constructor(
    private readonly admin: DecisionAdmin,
    private readonly live: LiveConfig,
  ) {}

  /** Lists every decision, compared with the configuration file */
  @Get()
  listDecisions(): DecisionsDto {
    return { policy: this.live.current.decisions.policy, decisions: this.admin.all() };
  }

  /**
   * Clears a decision, so that the configuration file applies again
   *
   * @remarks A server or project that only a decision defines is removed when this decision is cleared.
   * @param id - The id in the list of decisions, URL-encoded.
   */
  @Delete(':id')
  @HttpCode(204)
  clearDecision(@CurrentCaller() caller: AdminCaller, @Param('id') id: string): Promise<void> {
    return this.admin.clear(caller, id);
  }
}

@AdminController('keys')
export class KeysController {
  constructor(private readonly admin: DecisionAdmin) {}

  /** Lists the API keys of clients, without their hashes */
  @Get()
  listKeys(): KeysDto {
    return { keys: this.admin.keys() };
  }

  /**
   * Revokes a key and closes its sessions; the key is refused until the decision is cleared or its hash is replaced
   *
   * @param id - Id of the key.
   */
  @Post(':id/revoke')
  @HttpCode(200)
  revokeKey(@CurrentCaller() caller: AdminCaller, @Param('id') id: string): Promise<KeyDto> {
    return this.admin.revoke(caller, id);
  }
}
