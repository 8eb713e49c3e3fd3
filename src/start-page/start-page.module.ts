import { Module } from '@nestjs/common';
import { OperatorModule } from '../admin/operator.module.js';
import { BackendsModule } from '../backends/backends.module.js';
import { ProjectsModule } from '../projects/projects.module.js';
import { StartPageController } from './start-page.controller.js';

@Module({ imports: [OperatorModule, BackendsModule, ProjectsModule], controllers: [StartPageController] })
export class StartPageModule {}
