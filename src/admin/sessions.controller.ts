import { Delete, Get, HttpCode, Param } from '@nestjs/common';
import { AdminController } from './admin-controller.js';
import { AskedBy, type Asked } from './asked.js';
import { SessionAdmin, type SessionView } from './session-admin.js';

@AdminController('sessions')
export class SessionsController {
  constructor(private readonly admin: SessionAdmin) {}

  @Get()
  list(): { sessions: SessionView[] } {
    return { sessions: this.admin.all() };
  }

  @Delete(':id')
  @HttpCode(204)
  close(@AskedBy() by: Asked, @Param('id') id: string): Promise<void> {
    return this.admin.close(by, id);
  }
}
