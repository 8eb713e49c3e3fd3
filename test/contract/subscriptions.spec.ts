import { describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import type { GatewayError } from '../../src/core/errors.js';
import { FakeServer } from '../kit/fake-server.js';
import { FakeSubscriber } from '../kit/fake-client.js';
import { recordLog } from '../kit/log-lines.js';
import { only } from '../kit/offers.js';
import { SubscriptionModel, TEMPLATE, type ModelServer } from '../kit/subscription-model.js';
import { SubscriptionHarness } from '../kit/subscription-harness.js';

// A failure prints its seed and path: set these to reproduce it, or to run more cases.
const SEED = Number(process.env['MODEL_SEED'] ?? 20251125);
const RUNS = Number(process.env['MODEL_RUNS'] ?? 60);

const LIMITS = { perClient: 4, perServer: 7, total: 9 };
const LINGER_MS = 500;
const CLIENTS = ['ann', 'ben', 'cem'];
const SERVERS = ['files', 'db', 'plain'];
const RESOURCES = ['x://a', 'x://a/1', 'x://b'];
const URIS = [...RESOURCES, 'x://*', 'x://a*', 'x://t/7', TEMPLATE, 'x://nope'];

/** The subscriptions module with its fake servers and clients. */
class RealSystem {
  readonly servers: Record<string, FakeServer> = {};
  readonly clients = new Map<string, FakeSubscriber>();
  /** Closed clients that were replaced. */
  readonly gone: FakeSubscriber[] = [];
  harness!: SubscriptionHarness;
  private generation = 0;
  private readonly seen = new Map<FakeSubscriber, number>();

  static async open(model: SubscriptionModel): Promise<RealSystem> {
    const real = new RealSystem();
    for (const server of model.servers.values()) real.servers[server.id] = fakeOf(server, model);
    const { perClient, perServer, total } = LIMITS;
    real.harness = await SubscriptionHarness.open(real.servers, {
      limits: { subscriptionsPerClient: perClient, subscriptionsPerServer: perServer, subscriptions: total },
    });
    for (const client of CLIENTS) real.join(client);
    return real;
  }

  join(name: string): void {
    const before = this.clients.get(name);
    if (before) this.gone.push(before);
    this.clients.set(name, new FakeSubscriber(`${name}#${++this.generation}`));
  }

  async subscribe(client: string, server: string, uri: string): Promise<string> {
    try {
      await this.harness.subscribe(this.clients.get(client)!, `resource://${server}/${uri}`);
      return 'ok';
    } catch (error) {
      return (error as GatewayError).kind;
    }
  }

  /** Waits until URIs without subscribers are unsubscribed. */
  async passLinger(): Promise<void> {
    for (let round = 0; round < 3; round++) await this.harness.pass(LINGER_MS);
  }

  /** Waits until the server has had that many links. */
  async untilLinked(id: string, links: number): Promise<void> {
    const server = this.servers[id]!;
    for (let second = 0; second < 120 && server.links.length < links; second++) await this.harness.pass(1000);
    if (server.links.length < links) throw new Error(`${id} was not linked again in two minutes`);
  }

  get table(): string[] {
    return Array.from(
      this.harness.subscribers.table,
      ({ subscriber, server, uri }) => `${subscriber.split('#')[0]} ${server} ${uri}`,
    ).toSorted();
  }

  /** Returns the updates since the last call. */
  takeDelivered(): string[] {
    return [...this.clients].flatMap(([name, client]) => this.updatesOf(name, client)).toSorted();
  }

  private updatesOf(name: string, client: FakeSubscriber): string[] {
    const from = this.seen.get(client) ?? 0;
    this.seen.set(client, client.delivered.length);
    return client.updates
      .slice(from)
      .map(({ uri, _meta }) => `${name} ${String(uri)}${_meta === undefined ? '' : ' deleted'}`);
  }
}

/** A server that accepts subscriptions to exactly the resources that it offers. */
function fakeOf(server: ModelServer, model: SubscriptionModel): FakeServer {
  const fake = new FakeServer(server.resources, server.takesSubscriptions);
  if (server.template !== undefined) fake.templates = [server.template];
  fake.replyToSubscribe = (uri) => (model.isOffered(server, uri) ? 'takes' : 'refuses');
  return fake;
}

/** One action. After it, the real system is compared with the model. */
class Action implements fc.AsyncCommand<SubscriptionModel, RealSystem> {
  constructor(
    private readonly name: string,
    private readonly isPossible: (model: SubscriptionModel) => boolean,
    private readonly act: (model: SubscriptionModel, real: RealSystem) => unknown,
  ) {}

  check(model: SubscriptionModel): boolean {
    return this.isPossible(model);
  }

  async run(model: SubscriptionModel, real: RealSystem): Promise<void> {
    await this.act(model, real);
    await real.passLinger();
    compare(model, real);
  }

  toString(): string {
    return this.name;
  }
}

function compare(model: SubscriptionModel, real: RealSystem): void {
  expect(real.table).toEqual(model.table);
  expect(real.takeDelivered()).toEqual(model.takeDue());
  for (const [id, { isUp, isEnabled }] of model.servers)
    if (isUp && isEnabled)
      expect([id, ...[...real.servers[id]!.held].toSorted()]).toEqual([id, ...model.held(id)]);
  for (const client of real.clients.values()) {
    const has = model.rows.some((row) => client.id.startsWith(`${row.client}#`));
    expect([client.id, client.hasNoListeners]).toEqual([client.id, !has]);
    const numbers = client.delivered.map(({ frame }) => frame.sequence);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  }
}

const always = (): boolean => true;
const isUp =
  (id: string) =>
  (model: SubscriptionModel): boolean => {
    const server = model.servers.get(id)!;
    return server.isUp && server.isEnabled;
  };

function mustBe(actual: unknown, expected: unknown): void {
  expect(actual).toEqual(expected);
}

const client = fc.constantFrom(...CLIENTS);
const server = fc.constantFrom(...SERVERS);
const uri = fc.constantFrom(...URIS);

const subscribing = fc.tuple(client, server, uri).map(
  ([who, where, what]) =>
    new Action(`${who} subscribes to ${what} of ${where}`, always, async (model, real) => {
      mustBe(await real.subscribe(who, where, what), model.subscribe(who, where, what));
    }),
);

const unsubscribing = fc.tuple(client, server, uri, fc.constantFrom('uri', 'id')).map(
  ([who, where, what, by]) =>
    new Action(`${who} unsubscribes from ${what} of ${where} by its ${by}`, always, (model, real) => {
      const subscriber = real.clients.get(who)!;
      const row = real.harness.subscribers.table.find({
        subscriber: subscriber.id,
        server: where,
        uri: what,
      });
      real.harness.unsubscribe(subscriber, by === 'id' && row ? row.id : `resource://${where}/${what}`);
      model.remove((own) => own.client === who && own.server === where && own.uri === what);
    }),
);

const leaving = client.map(
  (who) =>
    new Action(`${who} leaves`, always, (model, real) => {
      real.clients.get(who)!.close();
      real.join(who);
      model.remove((row) => row.client === who);
      model.scopes.set(who, SERVERS);
    }),
);

const changingProject = fc.tuple(client, fc.subarray(SERVERS)).map(
  ([who, servers]) =>
    new Action(`${who} sees ${servers.join(', ') || 'nothing'}`, always, (model, real) => {
      real.clients.get(who)!.setScope(only(...servers));
      model.setScope(who, servers);
    }),
);

const updating = fc.tuple(server, fc.constantFrom(...RESOURCES, 'x://t/7', 'x://b/part')).map(
  ([id, what]) =>
    new Action(`${id} updates ${what}`, isUp(id), (model, real) => {
      real.servers[id]!.update(what);
      model.updated(id, what);
    }),
);

const listing = fc.tuple(server, fc.subarray(RESOURCES)).map(
  ([id, resources]) =>
    new Action(`${id} lists ${resources.join(', ') || 'nothing'}`, isUp(id), async (model, real) => {
      const fake = real.servers[id]!;
      for (const held of fake.held)
        if (RESOURCES.includes(held) && !resources.includes(held)) fake.held.delete(held);
      model.list(id, resources);
      await real.harness.list(fake, ...resources);
    }),
);

const losing = server.map(
  (id) =>
    new Action(`${id} is lost`, isUp(id), (model, real) => {
      real.servers[id]!.isReachable = false;
      real.servers[id]!.link.disconnect();
      model.servers.get(id)!.isUp = false;
    }),
);

const comingBack = server.map(
  (id) =>
    new Action(
      `${id} is back`,
      (model) => !model.servers.get(id)!.isUp && model.servers.get(id)!.isEnabled,
      async (model, real) => {
        const fake = real.servers[id]!;
        fake.isReachable = true;
        await real.untilLinked(id, fake.links.length + 1);
        model.servers.get(id)!.isUp = true;
        model.linked(id);
      },
    ),
);

const losingNotifications = fc.tuple(server, fc.boolean()).map(
  ([id, dropsSubscriptions]) =>
    new Action(
      `${id} has a gap in its notifications${dropsSubscriptions ? ' and drops its subscriptions' : ''}`,
      isUp(id),
      (model, real) => {
        const fake = real.servers[id]!;
        if (dropsSubscriptions) fake.held.clear();
        fake.link.emitGap();
        model.linked(id);
      },
    ),
);

const replacing = fc.tuple(fc.constantFrom('files', 'db'), fc.nat()).map(
  ([id, n]) =>
    new Action(`${id} is replaced`, isUp(id), async (model, real) => {
      const links = real.servers[id]!.links.length;
      await real.harness.reload({ [id]: { args: [`${n} ${links}`] } });
      await real.untilLinked(id, links + 1);
      model.linked(id);
    }),
);

const removing = server.map(
  (id) =>
    new Action(
      `${id} is removed and added again`,
      (model) => model.servers.get(id)!.isUp,
      async (model, real) => {
        const links = real.servers[id]!.links.length;
        await real.harness.remove(id);
        model.remove((row) => row.server === id);
        mustBe(real.table, model.table);
        await real.harness.remove(id, false);
        await real.untilLinked(id, links + 1);
        model.servers.get(id)!.isEnabled = true;
      },
    ),
);

const disabling = fc.tuple(server, fc.boolean()).map(
  ([id, enabled]) =>
    new Action(
      `${id} is ${enabled ? 'enabled' : 'disabled'}`,
      (model) => model.servers.get(id)!.isUp,
      async (model, real) => {
        const known = model.servers.get(id)!;
        const fake = real.servers[id]!;
        const links = fake.links.length;
        await real.harness.enable(id, enabled);
        if (enabled && !known.isEnabled) await real.untilLinked(id, links + 1);
        model.enable(id, enabled);
      },
    ),
);

/** Concurrent requests. Afterwards, the table has exactly the rows whose subscription was acknowledged and not ended. */
const concurrentRequests = fc
  .array(fc.tuple(client, server, uri, fc.nat(9)), { minLength: 2, maxLength: 12 })
  .map(
    (requests) =>
      new Action(
        `concurrent requests: ${requests.map((one) => one.join(' ')).join('; ')}`,
        always,
        async (model, real) => {
          const { table } = real.harness.subscribers;
          const outcomes: Promise<[string, string]>[] = [];
          for (const [who, where, what, roll] of requests) {
            const name = `${who} ${where} ${what}`;
            if (roll < 7) outcomes.push(real.subscribe(who, where, what).then((outcome) => [name, outcome]));
            else real.harness.unsubscribe(real.clients.get(who)!, `resource://${where}/${what}`);
            mustBe(table.countOfServer(where) <= LIMITS.perServer, true);
            mustBe(table.size <= LIMITS.total, true);
            mustBe(table.countOfSubscriber(real.clients.get(who)!.id) <= LIMITS.perClient, true);
          }
          const before = new Set(model.table);
          const results = await Promise.all(outcomes);
          const accepted = new Set(results.filter(([, outcome]) => outcome === 'ok').map(([name]) => name));
          for (const name of real.table) mustBe([name, accepted.has(name) || before.has(name)], [name, true]);
          const rows = new Set(real.table);
          const unsubscribed = new Set(
            requests.filter(([, , , roll]) => roll >= 7).map((one) => one.slice(0, 3).join(' ')),
          );
          for (const name of [...accepted, ...before])
            if (!unsubscribed.has(name)) mustBe([name, rows.has(name)], [name, true]);
          model.rows = Array.from(table, (row) => ({
            client: row.subscriber.split('#')[0]!,
            server: row.server,
            uri: row.uri,
          }));
        },
      ),
  );

const newModel = (): SubscriptionModel => {
  const model = new SubscriptionModel(
    SERVERS.map((id) => ({
      id,
      takesSubscriptions: id !== 'plain',
      template: id === 'files' ? TEMPLATE : undefined,
      resources: RESOURCES,
      isUp: true,
      isEnabled: true,
    })),
    LIMITS,
  );
  for (const name of CLIENTS) model.scopes.set(name, SERVERS);
  return model;
};

describe('subscriptions', () => {
  it(
    'match a simple model after any actions of clients, servers and administrators',
    async () => {
      recordLog();
      jest.spyOn(Math, 'random').mockReturnValue(0);
      const commands = fc.commands(
        [
          subscribing,
          subscribing,
          subscribing,
          unsubscribing,
          leaving,
          changingProject,
          updating,
          updating,
          listing,
          losing,
          comingBack,
          losingNotifications,
          replacing,
          disabling,
          removing,
          concurrentRequests,
        ],
        { maxCommands: 25 },
      );
      await fc.assert(
        fc.asyncProperty(commands, async (given) => {
          const model = newModel();
          const real = await RealSystem.open(model);
          await fc.asyncModelRun(() => ({ model, real }), given);
          for (const one of real.clients.values()) one.close();
          await real.passLinger();
          expect(real.table).toEqual([]);
          for (const one of [...real.clients.values(), ...real.gone]) expect(one.hasNoListeners).toBe(true);
          const scrape = await real.harness.scrape();
          expect(scrape.value('mcp_active_subscriptions')).toBe(0);
          expect(scrape.value('gatehouse_upstream_subscriptions')).toBe(0);
          await real.harness.close();
        }),
        { seed: SEED, numRuns: RUNS },
      );
    },
    30_000 + RUNS * 500,
  );
});
