import { Delete, Get, HttpCode, Param } from '@nestjs/common';
import { AdminController } from './admin-controller.js';
import { CurrentCaller, type AdminCaller } from './admin-caller.js';
import { SessionAdmin, type SessionDto } from './session-admin.js';

@AdminController('sessions')
export class SessionsController {
  constructor(private readonly admin: SessionAdmin) {}

  @Get()
  list(): { sessions: SessionDto[] } {
    return { sessions: this.admin.all() };
  }

  @Delete(':id')
  @HttpCode(204)
  close(@CurrentCaller() by: AdminCaller, @Param('id') id: string): Promise<void> {
    return this.admin.close(by, id);
  }
}
