import { Module } from '@nestjs/common';
import { DecisionReview } from './decision-review.js';

/** Decisions of administrators, compared with the configuration file. */
@Module({ providers: [DecisionReview], exports: [DecisionReview] })
export class DecisionsModule {}
