import type { Link } from '../link/link.js';

/** Requests that wait for the next link. */
export class LinkWaiters {
  private waiters: { readonly resolve: (link: Link) => void; readonly reject: (error: Error) => void }[] = [];

  wait(): Promise<Link> {
    return new Promise((resolve, reject) => this.waiters.push({ resolve, reject }));
  }

  resolve(link: Link): void {
    for (const waiter of this.takeAll()) waiter.resolve(link);
  }

  reject(reason: Error): void {
    for (const waiter of this.takeAll()) waiter.reject(reason);
  }

  private takeAll(): LinkWaiters['waiters'] {
    const { waiters } = this;
    this.waiters = [];
    return waiters;
  }
}
