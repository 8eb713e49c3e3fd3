import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { BackendsModule } from '../backends/backends.module.js';
import { ProjectGuard } from './project.guard.js';
import { Projects } from './projects.service.js';

@Module({
  imports: [BackendsModule],
  providers: [Projects, { provide: APP_GUARD, useClass: ProjectGuard }],
  exports: [Projects],
})
export class ProjectsModule {}
