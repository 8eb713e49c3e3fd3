import type { Subscription } from '../core/subscriptions/subscription-target.js';
import type { Route } from '../core/subscriptions/update-routing.js';
import type { Work } from './fan-out.js';
import { ResourceUpdate, type News } from './resource-update.js';

export interface Courier {
  route(news: News, update: ResourceUpdate): Route;
  deliver(subscription: Subscription, update: ResourceUpdate): void;
  arrived(news: News, reached: number): void;
}

/** News on their way to everybody who is due, one after the other. */
export class Spreading implements Work {
  private update: ResourceUpdate;
  private route: Route | undefined;

  constructor(
    private readonly news: News,
    private readonly courier: Courier,
  ) {
    this.update = new ResourceUpdate(news);
  }

  step(isLater: boolean): boolean {
    // Those who are still due may have got something else meanwhile.
    if (isLater) this.update = this.update.later();
    this.route ??= this.courier.route(this.news, this.update);
    const subscription = this.route.next();
    if (subscription) this.courier.deliver(subscription, this.update);
    else this.courier.arrived(this.news, this.route.reached);
    return subscription !== undefined;
  }
}
