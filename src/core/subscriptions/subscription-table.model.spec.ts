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
const PEOPLE = Object.keys(PRINCIPALS);
const LIMITS: SubscriptionLimits = { perSubscriber: 4, perPrincipal: 5, perServer: 5, total: 7 };

type Request = 'subscribe' | 'unsubscribe';
const LATE = new GatewayError('timeout', 'late');
const ANSWERS = { ok: undefined, refused: new RemoteError(-32602, 'no', '{}'), timeout: LATE };
type Answer = keyof typeof ANSWERS;

const isPattern = (uri: string): boolean => uri.endsWith('*');
const covers = (target: string, uri: string): boolean =>
  isPattern(target) ? uri.startsWith(target.slice(0, -1)) : uri === target || uri.startsWith(`${target}/`);
const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
type Sent = { wire: Wire; request: Request; uri: string; settle: (error?: Error) => void; isStale?: true };

/** One link to a server, and the subscriptions that the server holds because of it. */
class Wire {
  isDown = false;
  readonly holds = new Set<string>();
  /** By URI: the outcome of the latest request. */
  readonly ended = new Map<string, `${Request} ${Answer}`>();

  constructor(
    readonly server: string,
    private readonly world: World,
  ) {}

  send(request: Request, uri: string): Promise<void> {
    const { world } = this;
    const others = world.onTheWire.filter((sent) => sent.wire === this);
    const wanted = world.table.target(this.server, uri) !== undefined;
    if (others.some((sent) => sent.uri === uri)) world.faults.push(`two requests for ${uri}`);
    if (wanted !== (request === 'subscribe')) world.faults.push(`${request} ${uri} is not wanted`);
    if (!wanted && others.some((sent) => sent.request === request)) world.faults.push('two at once');
    if (this.isDown) world.faults.push(`${request} ${uri} on a lost link`);
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => (error ? reject(error) : resolve());
      world.onTheWire.push({ wire: this, request, uri, settle });
    });
  }
}

/** The real table, routing and reconcilers, with a minimal service around them. */
class World {
  readonly onTheWire: Sent[] = [];
  readonly faults: string[] = [];
  readonly delivered = new Set<string>();
  readonly table = new SubscriptionTable(() => `${++this.lastId}`);
  readonly routing = new UpdateRouting<string>(this.table);
  readonly links = new FakeLinks((server, uri) => this.table.target(server, uri) !== undefined);
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

  /** Returns the targets without subscribers. */
  gone(removed: readonly RemovedSubscription[]): string[] {
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
      if (removed) this.gone([removed]);
      return;
    }
    const held = this.routing.acknowledged(id);
    if (this.table.get(id)) for (const text of held) this.delivered.add(`${subscriber} ${text}`);
  }
}

interface Row {
  readonly who: string;
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
  readonly links = new Map<string, Wire | 'incapable'>();
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

  limitFor(who: string, server: string): string | undefined {
    const principal = PRINCIPALS[who];
    if (this.count((row) => row.who === who) >= LIMITS.perSubscriber) return 'perSubscriber';
    if (principal && this.count((row) => PRINCIPALS[row.who] === principal) >= LIMITS.perPrincipal)
      return 'perPrincipal';
    if (this.count((row) => row.server === server) >= LIMITS.perServer) return 'perServer';
    return this.rows.length >= LIMITS.total ? 'total' : undefined;
  }

  /** The server confirmed the URI, and no request for it was sent since. */
  isHeld(server: string, uri: string, world: World): boolean {
    const link = this.links.get(server);
    if (!(link instanceof Wire) || link.ended.get(uri) !== 'subscribe ok') return false;
    return !world.onTheWire.some((sent) => sent.wire === link && sent.uri === uri);
  }

  linkEnds(server: string): void {
    const link = this.links.get(server);
    if (link instanceof Wire) link.isDown = true;
    this.links.delete(server);
    this.remove((row) => row.server === server && !row.acknowledged);
  }
}

type Step = (model: Model, world: World) => void;

async function take(step: Step, model: Model, world: World): Promise<void> {
  step(model, world);
  await idle();
  compare(model, world);
}

function subscribe(who: string, server: string, uri: string): Step {
  return (model, world) => {
    const others = model.of(server, uri);
    const isHeld = model.isHeld(server, uri, world);
    const refusal = others.some((row) => row.who === who) ? 'known' : model.limitFor(who, server);
    const outcome = world.subscribe({ subscriber: who, principal: PRINCIPALS[who], server, uri });
    expect(outcome).toBe(refusal ?? (others.length === 0 ? 'first' : 'one more'));
    const link = model.links.get(server);
    if (refusal || (!link && !isPattern(uri))) return;
    const acknowledged = isPattern(uri) || link === 'incapable' || isHeld;
    model.rows.push({ who, server, uri, acknowledged, early: new Map() });
  };
}

/** Removes rows, and compares the targets that are left without subscribers. */
function drop(
  removeFrom: (table: SubscriptionTable) => RemovedSubscription[],
  isGone: (row: Row) => boolean,
): Step {
  return (model, world) => {
    expect(world.gone(removeFrom(world.table)).toSorted()).toEqual(model.remove(isGone).toSorted());
  };
}

function unsubscribe(who: string, server: string, uri: string, byId: boolean): Step {
  const asked = { subscriber: who, server, uri };
  const isIt = (row: Row): boolean => row.who === who && row.server === server && row.uri === uri;
  return drop((table) => {
    const removed = byId ? table.removeById(table.find(asked)?.id ?? '') : table.remove(asked);
    return removed ? [removed] : [];
  }, isIt);
}

function leave(who: string): Step {
  const isTheirs = (row: Row): boolean => row.who === who;
  return drop((table) => table.removeSubscriber(who), isTheirs);
}

/** The link is lost, or the server is disabled and its rows are removed. */
function goDown(server: string, disabled: boolean): Step {
  return (model, world) => {
    if (disabled)
      drop(
        (table) => table.removeServer(server),
        (row) => row.server === server,
      )(model, world);
    world.links.close(server);
    model.linkEnds(server);
  };
}

function comeUp(server: string, capable: boolean): Step {
  return (model, world) => {
    const wire = new Wire(server, world);
    model.linkEnds(server);
    model.links.set(server, capable ? wire : 'incapable');
    // Wrapped, so that the reconciler cannot reach the state of the wire.
    const upstream = {
      subscribe: (uri: string) => wire.send('subscribe', uri),
      unsubscribe: (uri: string) => wire.send('unsubscribe', uri),
    };
    world.links.open(server, capable ? upstream : UNSOLICITED_UPSTREAM, world.wantedOf(server));
  };
}

function answer(which: number, kind: Answer): Step {
  return (model, world) => {
    const [sent] = world.onTheWire.splice(which % Math.max(1, world.onTheWire.length), 1);
    if (!sent) return;
    const { wire, request, uri, settle, isStale } = sent;
    wire.ended.set(uri, `${request} ${isStale && kind === 'ok' ? 'timeout' : kind}`);
    // A server whose answer timed out has done what was requested.
    if (kind !== 'refused') wire.holds[request === 'subscribe' ? 'add' : 'delete'](uri);
    settle(ANSWERS[kind]);
    if (request === 'unsubscribe' || model.links.get(wire.server) !== wire) return;
    const waiting = model.of(wire.server, uri).filter((row) => !row.acknowledged);
    if (kind !== 'ok') model.remove((row) => waiting.includes(row));
    else
      for (const row of waiting) {
        row.acknowledged = true;
        for (const text of row.early.values()) model.delivered.add(`${row.who} ${text}`);
      }
  };
}

function elapse(which: number): Step {
  return (_model, world) => {
    const timer = [...world.links.timers][which % Math.max(1, world.links.timers.size)];
    if (timer && world.links.timers.delete(timer)) timer();
  };
}

function update(server: string, uri: string): Step {
  return (model, world) => {
    const text = `${server} ${uri} #${++model.updates}`;
    const wanting = model.rows.filter((row) => row.server === server && covers(row.uri, uri));
    for (const row of wanting) {
      const isServed = wanting.some(({ who, acknowledged }) => who === row.who && acknowledged);
      if (isServed) model.delivered.add(`${row.who} ${text}`);
      if (isServed) row.early.delete(uri);
      else row.early.set(uri, text);
    }
    world.update(server, uri, text);
  };
}

/** A resource is gone and listed again. */
function restore(server: string, uri: string): Step {
  return (model, world) => {
    const link = model.links.get(server);
    if (link instanceof Wire && model.isHeld(server, uri, world)) link.ended.delete(uri);
    for (const sent of world.onTheWire) if (sent.wire === link && sent.uri === uri) sent.isStale = true;
    const reconciler = world.links.reconcilers.get(server);
    reconciler?.resourceGone(uri);
    for (const wanted of world.wantedOf(server)) reconciler?.resourceListed(wanted);
  };
}

/** One comparison of two plain values, because it runs very often. */
function compare(model: Model, world: World): void {
  const { table } = world;
  expect({
    faults: world.faults,
    rows: Array.from(table, ({ subscriber, server, uri }) => `${subscriber} ${server} ${uri}`).toSorted(),
    subscribers: PEOPLE.map((who) => table.countOfSubscriber(who)),
    principals: ['anna', 'ben'].map((principal) => table.countOfPrincipal(principal)),
    servers: SERVERS.map((server) => [
      table.countOfServer(server),
      model.links.get(server) === 'incapable' ? 0 : (world.links.reconcilers.get(server)?.size ?? 0),
    ]),
    delivered: [...world.delivered].toSorted(),
  }).toEqual({
    faults: [],
    rows: model.rows.map(({ who, server, uri }) => `${who} ${server} ${uri}`).toSorted(),
    subscribers: PEOPLE.map((who) => model.count((row) => row.who === who)),
    principals: ['anna', 'ben'].map((principal) => model.count(({ who }) => PRINCIPALS[who] === principal)),
    servers: SERVERS.map((server) => [
      model.count((row) => row.server === server),
      URIS.filter((uri) => model.isHeld(server, uri, world)).length,
    ]),
    delivered: [...model.delivered].toSorted(),
  });
}

/** Answers all requests with success and runs all timers, until none is left. */
async function quieten(model: Model, world: World): Promise<void> {
  for (let round = 0; world.onTheWire.length > 0 || world.links.timers.size > 0; round++) {
    expect(round).toBeLessThan(1000);
    await take(world.onTheWire.length > 0 ? answer(0, 'ok') : elapse(0), model, world);
  }
  for (const [server, link] of model.links) {
    if (!(link instanceof Wire)) continue;
    const wanted = new Set(world.wantedOf(server));
    // A refused request may not have been repeated yet.
    const differs = URIS.filter((uri) => wanted.has(uri) !== link.holds.has(uri));
    expect(differs.filter((uri) => !link.ended.get(uri)?.endsWith('refused'))).toEqual([]);
  }
  expect(model.rows.filter((row) => !row.acknowledged)).toEqual([]);
}

const someone = fc.constantFrom(...PEOPLE);
const server = fc.constantFrom(...SERVERS);
const uri = fc.constantFrom(...URIS);
const kind = fc.constantFrom<Answer>('ok', 'ok', 'ok', 'refused', 'timeout');

/** A command with a readable name for failure reports. */
const command = <Args extends unknown[]>(
  name: string,
  step: (...args: Args) => Step,
  ...arbitraries: { [K in keyof Args]: fc.Arbitrary<Args[K]> }
): fc.Arbitrary<fc.AsyncCommand<Model, World>> =>
  fc.tuple<Args>(...arbitraries).map((args) => ({
    check: () => true,
    run: (model, world) => take(step(...args), model, world),
    toString: () => `${name}(${args.join(', ')})`,
  }));

const often = [
  command('subscribe', subscribe, someone, server, uri),
  command('answer', answer, fc.nat(20), kind),
];
const sometimes = [
  command('unsubscribe', unsubscribe, someone, server, uri, fc.boolean()),
  command('elapse', elapse, fc.nat(20)),
  command('update', update, server, fc.constantFrom(...URIS, 'a/b/d')),
];
const rarely = [
  command('leave', leave, someone),
  command('goDown', goDown, server, fc.boolean()),
  command('comeUp', comeUp, server, fc.constantFrom(true, true, true, false)),
  command('restore', restore, server, uri),
];
const mixed = [often, often, often, often, sometimes, sometimes, rarely].flat();
const commands = fc.commands(mixed, { maxCommands: 80, size: '+1' });

describe('SubscriptionTable, UpdateRouting and UpstreamReconciler', () => {
  it('behave like the model, make servers hold the wanted URIs, and leave nothing behind', async () => {
    await fc.assert(
      fc.asyncProperty(commands, async (taken) => {
        const model = new Model();
        const world = new World();
        for (const each of SERVERS) comeUp(each, true)(model, world);
        await fc.asyncModelRun(() => ({ model, real: world }), taken);
        await quieten(model, world);
        for (const who of PEOPLE) leave(who)(model, world);
        await quieten(model, world);
        expect(entriesIn(world.routing) + entriesIn(world.table)).toBe(0);
        expect(entriesIn(world.links.reconcilers)).toBe(model.links.size);
        for (const each of SERVERS) world.links.close(each);
        expect(entriesIn(world.links.reconcilers)).toBe(0);
      }),
      { seed: SEED, numRuns: RUNS },
    );
  }, 120_000);
});
