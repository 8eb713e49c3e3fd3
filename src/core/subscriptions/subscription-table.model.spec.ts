import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { entriesIn, UNSOLICITED_UPSTREAM, FakeLinks } from '../../../test/kit/reconciler-harness.js';
import { GatewayError, RemoteError } from '../errors.js';
import { addWithinLimits, type SubscriptionLimits } from './subscription-limits.js';
import { SubscriptionTable, type NewSubscription, type RemovedSubscription } from './subscription-table.js';
import type { Subscription } from './subscription-target.js';
import { UpdateRouting } from './update-routing.js';

// A failure prints its seed and path: set these to reproduce it, or to run more cases.
const SEED = Number(process.env['MODEL_SEED'] ?? 20251125);
const RUNS = Number(process.env['MODEL_RUNS'] ?? 100);

const SERVERS = ['files', 'db'];
const URIS = ['a', 'a/b', 'b', 'a*'];
const PRINCIPALS: NodeJS.Dict<string> = { anna1: 'anna', anna2: 'anna', ben: 'ben', guest: undefined };
const SUBSCRIBERS = Object.keys(PRINCIPALS);
const LIMITS: SubscriptionLimits = { perSubscriber: 4, perPrincipal: 5, perServer: 5, total: 7 };

type Request = 'subscribe' | 'unsubscribe';
const LATE = new GatewayError('timeout', 'late');
const ANSWERS = { ok: undefined, refused: new RemoteError(-32602, 'no', '{}'), timeout: LATE };
type Answer = keyof typeof ANSWERS;

const isPattern = (uri: string): boolean => uri.endsWith('*');
const covers = (target: string, uri: string): boolean =>
  isPattern(target) ? uri.startsWith(target.slice(0, -1)) : uri === target || uri.startsWith(`${target}/`);
const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
type Settle = (error?: Error) => void;
type Sent = { link: FakeLink; request: Request; uri: string; settle: Settle; isStale?: true };

/** One link to a server, and the subscriptions that the server holds because of it. */
class FakeLink {
  isDown = false;
  readonly holds = new Set<string>();
  /** By URI: the outcome of the latest request. */
  readonly ended = new Map<string, `${Request} ${Answer}`>();

  constructor(
    readonly server: string,
    private readonly system: System,
  ) {}

  send(request: Request, uri: string): Promise<void> {
    const { system } = this;
    const others = system.inFlight.filter((sent) => sent.link === this);
    const wanted = system.table.resource(this.server, uri) !== undefined;
    if (others.some((sent) => sent.uri === uri)) system.faults.push(`two requests for ${uri}`);
    if (wanted !== (request === 'subscribe')) system.faults.push(`${request} ${uri} is not wanted`);
    if (!wanted && others.some((sent) => sent.request === request)) system.faults.push('two at once');
    if (this.isDown) system.faults.push(`${request} ${uri} on a lost link`);
    return new Promise((resolve, reject) => {
      const settle: Settle = (error) => (error ? reject(error) : resolve());
      system.inFlight.push({ link: this, request, uri, settle });
    });
  }
}

/** The real table, routing and reconcilers, with a minimal service around them. */
class System {
  readonly inFlight: Sent[] = [];
  readonly faults: string[] = [];
  readonly delivered = new Set<string>();
  readonly table = new SubscriptionTable(() => `${++this.lastId}`);
  readonly routing = new UpdateRouting<string>(this.table);
  readonly links = new FakeLinks((server, uri) => this.table.resource(server, uri) !== undefined);
  private lastId = 0;

  wantedOf(server: string): string[] {
    return Array.from(this.table.targetsOf(server), ({ uri }) => uri).filter((uri) => !isPattern(uri));
  }

  /** Returns whether it is the first of its target, or the limit that was reached. */
  subscribe(wanted: NewSubscription): string {
    const added = addWithinLimits(this.table, wanted, LIMITS, 1);
    if ('limit' in added) return added.which;
    if (!added.isNew) return 'known';
    if (!isPattern(wanted.uri)) void this.confirm(added.subscription);
    return added.isFirst ? 'first' : 'one more';
  }

  /** Informs the reconcilers. Returns the targets without subscribers. */
  handleRemoved(removed: readonly RemovedSubscription[]): string[] {
    const last = removed.filter(({ wasLast }) => wasLast).map(({ subscription }) => subscription);
    for (const { server, uri } of last) this.links.reconcilers.get(server)?.rowRemoved(uri);
    return last.map(({ server, uri }) => `${server} ${uri}`);
  }

  update(server: string, uri: string, text: string): void {
    for (const { subscriber } of this.routing.route(server, uri, text)) {
      const delivery = `${subscriber} ${text}`;
      if (this.delivered.size === this.delivered.add(delivery).size) this.faults.push(`${delivery}, twice`);
    }
  }

  private async confirm({ id, subscriber, server, uri }: Subscription): Promise<void> {
    this.routing.expectAcknowledgement(id);
    try {
      await this.links.confirm(server, uri);
    } catch {
      this.routing.abandoned(id);
      const removed = this.table.removeById(id);
      if (removed) this.handleRemoved([removed]);
      return;
    }
    const held = this.routing.acknowledged(id);
    if (this.table.get(id)) for (const text of held) this.delivered.add(`${subscriber} ${text}`);
  }
}

interface Row {
  readonly subscriber: string;
  readonly server: string;
  readonly uri: string;
  acknowledged: boolean;
  /** By URI: the update that came before the acknowledgement. */
  readonly early: Map<string, string>;
}

/** The expected behaviour, with lists and linear scans. */
class Model {
  rows: Row[] = [];
  readonly delivered = new Set<string>();
  /** By connected server: its link, or `incapable` when it takes no subscriptions. */
  readonly links = new Map<string, FakeLink | 'incapable'>();
  updates = 0;

  of(server: string, uri: string): Row[] {
    return this.rows.filter((row) => row.server === server && row.uri === uri);
  }

  /** Returns the targets without subscribers. */
  remove(gone: (row: Row) => boolean): string[] {
    const before = new Set(this.rows.map(({ server, uri }) => `${server} ${uri}`));
    this.rows = this.rows.filter((row) => !gone(row));
    for (const { server, uri } of this.rows) before.delete(`${server} ${uri}`);
    return [...before];
  }

  count(isCounted: (row: Row) => boolean): number {
    return this.rows.filter(isCounted).length;
  }

  limitFor(subscriber: string, server: string): string | undefined {
    const principal = PRINCIPALS[subscriber];
    if (this.count((row) => row.subscriber === subscriber) >= LIMITS.perSubscriber) return 'perSubscriber';
    if (principal && this.count((row) => PRINCIPALS[row.subscriber] === principal) >= LIMITS.perPrincipal)
      return 'perPrincipal';
    if (this.count((row) => row.server === server) >= LIMITS.perServer) return 'perServer';
    return this.rows.length >= LIMITS.total ? 'total' : undefined;
  }

  /** The server confirmed the URI, and no request for it was sent since. */
  isHeld(server: string, uri: string, system: System): boolean {
    const link = this.links.get(server);
    if (!(link instanceof FakeLink) || link.ended.get(uri) !== 'subscribe ok') return false;
    return !system.inFlight.some((sent) => sent.link === link && sent.uri === uri);
  }

  linkEnds(server: string): void {
    const link = this.links.get(server);
    if (link instanceof FakeLink) link.isDown = true;
    this.links.delete(server);
    this.remove((row) => row.server === server && !row.acknowledged);
  }
}

type Step = (model: Model, system: System) => void;

async function runStep(step: Step, model: Model, system: System): Promise<void> {
  step(model, system);
  await idle();
  compare(model, system);
}

function subscribe(subscriber: string, server: string, uri: string): Step {
  return (model, system) => {
    const others = model.of(server, uri);
    const isHeld = model.isHeld(server, uri, system);
    const refusal = others.some((row) => row.subscriber === subscriber)
      ? 'known'
      : model.limitFor(subscriber, server);
    const outcome = system.subscribe({ subscriber, principal: PRINCIPALS[subscriber], server, uri });
    expect(outcome).toBe(refusal ?? (others.length === 0 ? 'first' : 'one more'));
    const link = model.links.get(server);
    if (refusal || (!link && !isPattern(uri))) return;
    const acknowledged = isPattern(uri) || link === 'incapable' || isHeld;
    model.rows.push({ subscriber, server, uri, acknowledged, early: new Map() });
  };
}

/** Removes rows, and compares the targets that are left without subscribers. */
function drop(
  removeFrom: (table: SubscriptionTable) => RemovedSubscription[],
  isGone: (row: Row) => boolean,
): Step {
  return (model, system) => {
    expect(system.handleRemoved(removeFrom(system.table)).toSorted()).toEqual(
      model.remove(isGone).toSorted(),
    );
  };
}

function unsubscribe(subscriber: string, server: string, uri: string, byId: boolean): Step {
  const asked = { subscriber, server, uri };
  const isIt = (row: Row): boolean =>
    row.subscriber === subscriber && row.server === server && row.uri === uri;
  return drop((table) => {
    const removed = byId ? table.removeById(table.find(asked)?.id ?? '') : table.remove(asked);
    return removed ? [removed] : [];
  }, isIt);
}

function leave(subscriber: string): Step {
  const isRemoved = (row: Row): boolean => row.subscriber === subscriber;
  return drop((table) => table.removeSubscriber(subscriber), isRemoved);
}

/** The link is lost, or the server is disabled and its rows are removed. */
function closeLink(server: string, disabled: boolean): Step {
  return (model, system) => {
    if (disabled)
      drop(
        (table) => table.removeServer(server),
        (row) => row.server === server,
      )(model, system);
    system.links.close(server);
    model.linkEnds(server);
  };
}

function openLink(server: string, capable: boolean): Step {
  return (model, system) => {
    const link = new FakeLink(server, system);
    model.linkEnds(server);
    model.links.set(server, capable ? link : 'incapable');
    // Wrapped, so that the reconciler cannot reach the state of the link.
    const upstream = {
      subscribe: (uri: string) => link.send('subscribe', uri),
      unsubscribe: (uri: string) => link.send('unsubscribe', uri),
    };
    system.links.open(server, capable ? upstream : UNSOLICITED_UPSTREAM, system.wantedOf(server));
  };
}

function answer(which: number, kind: Answer): Step {
  return (model, system) => {
    const [sent] = system.inFlight.splice(which % Math.max(1, system.inFlight.length), 1);
    if (!sent) return;
    const { link, request, uri, settle, isStale } = sent;
    link.ended.set(uri, `${request} ${isStale && kind === 'ok' ? 'timeout' : kind}`);
    // A server whose response timed out has processed the request.
    if (kind !== 'refused') link.holds[request === 'subscribe' ? 'add' : 'delete'](uri);
    settle(ANSWERS[kind]);
    if (request === 'unsubscribe' || model.links.get(link.server) !== link) return;
    const waiting = model.of(link.server, uri).filter((row) => !row.acknowledged);
    if (kind !== 'ok') model.remove((row) => waiting.includes(row));
    else
      for (const row of waiting) {
        row.acknowledged = true;
        for (const text of row.early.values()) model.delivered.add(`${row.subscriber} ${text}`);
      }
  };
}

function fireTimer(which: number): Step {
  return (_model, system) => {
    const timer = [...system.links.timers][which % Math.max(1, system.links.timers.size)];
    if (timer && system.links.timers.delete(timer)) timer();
  };
}

function update(server: string, uri: string): Step {
  return (model, system) => {
    const text = `${server} ${uri} #${++model.updates}`;
    const wanting = model.rows.filter((row) => row.server === server && covers(row.uri, uri));
    for (const row of wanting) {
      const isServed = wanting.some((other) => other.subscriber === row.subscriber && other.acknowledged);
      if (isServed) model.delivered.add(`${row.subscriber} ${text}`);
      if (isServed) row.early.delete(uri);
      else row.early.set(uri, text);
    }
    system.update(server, uri, text);
  };
}

/** A resource is gone and listed again. */
function restore(server: string, uri: string): Step {
  return (model, system) => {
    const link = model.links.get(server);
    if (link instanceof FakeLink && model.isHeld(server, uri, system)) link.ended.delete(uri);
    for (const sent of system.inFlight) if (sent.link === link && sent.uri === uri) sent.isStale = true;
    const reconciler = system.links.reconcilers.get(server);
    reconciler?.resourceGone(uri);
    for (const wanted of system.wantedOf(server)) reconciler?.resourceListed(wanted);
  };
}

/** One comparison of two plain values, because it runs very often. */
function compare(model: Model, system: System): void {
  const { table } = system;
  expect({
    faults: system.faults,
    rows: Array.from(table, ({ subscriber, server, uri }) => `${subscriber} ${server} ${uri}`).toSorted(),
    subscribers: SUBSCRIBERS.map((subscriber) => table.countOfSubscriber(subscriber)),
    principals: ['anna', 'ben'].map((principal) => table.countOfPrincipal(principal)),
    servers: SERVERS.map((server) => [
      table.countOfServer(server),
      model.links.get(server) === 'incapable' ? 0 : (system.links.reconcilers.get(server)?.size ?? 0),
    ]),
    delivered: [...system.delivered].toSorted(),
  }).toEqual({
    faults: [],
    rows: model.rows.map(({ subscriber, server, uri }) => `${subscriber} ${server} ${uri}`).toSorted(),
    subscribers: SUBSCRIBERS.map((subscriber) => model.count((row) => row.subscriber === subscriber)),
    principals: ['anna', 'ben'].map((principal) =>
      model.count(({ subscriber }) => PRINCIPALS[subscriber] === principal),
    ),
    servers: SERVERS.map((server) => [
      model.count((row) => row.server === server),
      URIS.filter((uri) => model.isHeld(server, uri, system)).length,
    ]),
    delivered: [...model.delivered].toSorted(),
  });
}

/** Answers all requests with success and runs all timers, until none is left. */
async function runToEnd(model: Model, system: System): Promise<void> {
  for (let round = 0; system.inFlight.length > 0 || system.links.timers.size > 0; round++) {
    expect(round).toBeLessThan(1000);
    await runStep(system.inFlight.length > 0 ? answer(0, 'ok') : fireTimer(0), model, system);
  }
  for (const [server, link] of model.links) {
    if (!(link instanceof FakeLink)) continue;
    const wanted = new Set(system.wantedOf(server));
    // A refused request may not have been repeated yet.
    const differs = URIS.filter((uri) => wanted.has(uri) !== link.holds.has(uri));
    expect(differs.filter((uri) => !link.ended.get(uri)?.endsWith('refused'))).toEqual([]);
  }
  expect(model.rows.filter((row) => !row.acknowledged)).toEqual([]);
}

const someSubscriber = fc.constantFrom(...SUBSCRIBERS);
const server = fc.constantFrom(...SERVERS);
const uri = fc.constantFrom(...URIS);
const kind = fc.constantFrom<Answer>('ok', 'ok', 'ok', 'refused', 'timeout');

/** A command with a readable name for failure reports. */
const command = <Args extends unknown[]>(
  name: string,
  step: (...args: Args) => Step,
  ...arbitraries: { [K in keyof Args]: fc.Arbitrary<Args[K]> }
): fc.Arbitrary<fc.AsyncCommand<Model, System>> =>
  fc.tuple<Args>(...arbitraries).map((args) => ({
    check: () => true,
    run: (model, system) => runStep(step(...args), model, system),
    toString: () => `${name}(${args.join(', ')})`,
  }));

const often = [
  command('subscribe', subscribe, someSubscriber, server, uri),
  command('answer', answer, fc.nat(20), kind),
];
const sometimes = [
  command('unsubscribe', unsubscribe, someSubscriber, server, uri, fc.boolean()),
  command('fireTimer', fireTimer, fc.nat(20)),
  command('update', update, server, fc.constantFrom(...URIS, 'a/b/d')),
];
const rarely = [
  command('leave', leave, someSubscriber),
  command('closeLink', closeLink, server, fc.boolean()),
  command('openLink', openLink, server, fc.constantFrom(true, true, true, false)),
  command('restore', restore, server, uri),
];
const mixed = [often, often, often, often, sometimes, sometimes, rarely].flat();
const commands = fc.commands(mixed, { maxCommands: 80, size: '+1' });

describe('SubscriptionTable, UpdateRouting and UpstreamReconciler', () => {
  it('behave like the model, make servers hold the wanted URIs, and leave nothing behind', async () => {
    await fc.assert(
      fc.asyncProperty(commands, async (taken) => {
        const model = new Model();
        const system = new System();
        for (const each of SERVERS) openLink(each, true)(model, system);
        await fc.asyncModelRun(() => ({ model, real: system }), taken);
        await runToEnd(model, system);
        for (const subscriber of SUBSCRIBERS) leave(subscriber)(model, system);
        await runToEnd(model, system);
        expect(entriesIn(system.routing) + entriesIn(system.table)).toBe(0);
        expect(entriesIn(system.links.reconcilers)).toBe(model.links.size);
        for (const each of SERVERS) system.links.close(each);
        expect(entriesIn(system.links.reconcilers)).toBe(0);
      }),
      { seed: SEED, numRuns: RUNS },
    );
  }, 120_000);
});
