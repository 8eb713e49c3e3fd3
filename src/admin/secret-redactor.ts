import { Injectable } from '@nestjs/common';
import { DesiredServers } from '../backends/desired-servers.js';
import { LiveConfig } from '../config/live-config.js';
import type { ServerConfig } from '../config/servers-config.js';
import type { JsonObject } from '../lib/json-text/json-value.js';
import { AdminTokens, type AdminRole } from './admin-tokens.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';
import type { Yield } from '../lib/slices/slices.js';
import { secretsIn, secretsInArgs } from '../lib/secrets/secret-parts.js';
import { isSecretValue } from '../lib/secrets/secret-value.js';
import { SubstringSet } from '../lib/substrings/substring-set.js';

export const REDACTED = '[redacted]';

/**
 * A scheme with a credential, such as `Bearer abc`. The credential alone is a secret too, because a server may log it
 * alone.
 */
const CREDENTIALS = /^\S+ +(\S+)$/;

/**
 * Passed to `isSecretValue` as the name of a part that `secretsIn` found. Such a part has no name of its own, but without
 * a name that suggests a secret, `isSecretValue` is true only for parts that are long and look random.
 */
const SECRET_NAME = 'secret';

/** New secrets are collected before a server starts with them, because the server may log them at once. */
const BEFORE_OTHER_LISTENERS = -1;

type Listener = (secrets: readonly string[]) => void;

/**
 * Removes secrets from responses and log lines. Secrets are the values that the configuration took from the environment,
 * the admin tokens, and what looks like a secret in headers, environments, arguments and URLs of servers. A value stays
 * secret after it was removed from the configuration.
 */
@Injectable()
export class SecretRedactor {
  private readonly listeners = new ListenerSet<Parameters<Listener>>();
  private secrets: ReadonlySet<string> = new Set();
  /** The secrets that not even an admin can read through the API: values from the environment, and the admin tokens. */
  private hiddenFromAdmins: ReadonlySet<string> = new Set();
  /** The search patterns of `secrets` and of `hiddenFromAdmins`, built at their first use. */
  private allPatterns: SubstringSet | undefined;
  private patternsHiddenFromAdmins: SubstringSet | undefined;
  /** The objects passed to `keepMasked`. */
  private readonly maskedObjects = new WeakSet<object>();

  constructor(
    private readonly live: LiveConfig,
    private readonly tokens: AdminTokens,
    private readonly desired: DesiredServers,
  ) {
    this.collect();
    desired.onChange(() => this.collect(), BEFORE_OTHER_LISTENERS);
    live.onChange(() => this.collect(), BEFORE_OTHER_LISTENERS);
  }

  get current(): readonly string[] {
    return [...this.secrets];
  }

  /** Calls the listener when there are new secrets. */
  onChange(listener: Listener): () => void {
    return this.listeners.add(listener);
  }

  /** A copy of a JSON value with every secret replaced. */
  redact(value: unknown): unknown {
    if (typeof value === 'string') return this.redactText(value);
    if (Array.isArray(value)) return value.map((item) => this.redact(item));
    if (typeof value !== 'object' || value === null || this.maskedObjects.has(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [this.redactText(name), this.redact(item)]),
    );
  }

  /** The JSON text of a redacted response. Lists may be long, so their items are redacted and encoded in slices. */
  async encode(response: JsonObject, yieldIfDue: Yield): Promise<string> {
    const members: string[] = [];
    for (const [name, member] of Object.entries(response)) {
      if (member === undefined) continue;
      const text = Array.isArray(member)
        ? await this.encodeItems(member, yieldIfDue)
        : JSON.stringify(this.redact(member));
      members.push(`${JSON.stringify(this.redactText(name))}:${text}`);
    }
    return `{${members.join(',')}}`;
  }

  private async encodeItems(items: readonly unknown[], yieldIfDue: Yield): Promise<string> {
    const texts: string[] = [];
    for (const item of items) {
      const pause = yieldIfDue();
      if (pause) await pause;
      texts.push(JSON.stringify(this.redact(item)));
    }
    return `[${texts.join(',')}]`;
  }

  /** Puts `mask` in place of every secret that a reader of this role may not see. */
  maskText(text: string, mask: string, role: AdminRole): string {
    if (role !== 'admin') return this.replaceAllIn(text, mask);
    this.patternsHiddenFromAdmins ??= new SubstringSet(this.hiddenFromAdmins);
    return this.patternsHiddenFromAdmins.replaceIn(text, mask);
  }

  /** Excludes an object of a response from `redact`, because its secrets are masked already. */
  keepMasked<T extends object>(value: T): T {
    this.maskedObjects.add(value);
    return value;
  }

  private redactText(text: string): string {
    return this.replaceAllIn(text, REDACTED);
  }

  private replaceAllIn(text: string, replacement: string): string {
    this.allPatterns ??= new SubstringSet(this.secrets);
    return this.allPatterns.replaceIn(text, replacement);
  }

  /** Adds the secrets of the current configuration and servers. Informs the listeners if there are new ones. */
  private collect(): void {
    const hiddenFromAdmins = new Set([
      ...this.hiddenFromAdmins,
      ...this.live.current.secrets,
      ...this.tokens.secrets,
    ]);
    const ofServers = [...this.desired.current.values()].flatMap(({ config }) => secretsOf(config));
    const all = new Set([...this.secrets, ...hiddenFromAdmins, ...ofServers]);
    // Both sets only grow, so an equal size means equal content.
    if (all.size === this.secrets.size && hiddenFromAdmins.size === this.hiddenFromAdmins.size) return;
    this.secrets = all;
    this.hiddenFromAdmins = hiddenFromAdmins;
    this.allPatterns = undefined;
    this.patternsHiddenFromAdmins = undefined;
    this.listeners.emit(this.current);
  }
}

/** Secret values of variables and headers, and secret parts of these values, of arguments and of URLs. */
function secretsOf(config: ServerConfig): string[] {
  const namedValues = Object.entries(config.type === 'stdio' ? config.env : config.headers);
  const values = namedValues.flatMap(([name, value]) =>
    [value, CREDENTIALS.exec(value)?.[1] ?? ''].filter((text) => isSecretValue(text, [name])),
  );
  const parts = [
    ...namedValues.flatMap(([, value]) => secretsIn(value)),
    ...(config.type === 'stdio'
      ? secretsInArgs(config.args)
      : [config.url, config.proxy ?? ''].flatMap(secretsIn)),
  ];
  return [...values, ...parts.filter((text) => isSecretValue(text, [SECRET_NAME]))];
}
