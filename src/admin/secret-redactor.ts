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

/** A value such as `Bearer abc`. A server may log its second part alone. */
const CREDENTIALS = /^\S+ +(\S+)$/;

/**
 * The name with which `isSecretValue` checks the parts that `secretsIn` found. They have no name of their own, and a value
 * without a secret name has to be longer and look random to count as a secret.
 */
const SECRET_NAME = 'secret';

/** New secrets are collected before a server starts with them, because the server may log them at once. */
const BEFORE_OTHER_LISTENERS = -1;

type Listener = (secrets: readonly string[]) => void;

/**
 * Removes secrets from responses and log lines: values that the configuration took from the environment, the admin tokens,
 * and secrets in headers, environments, arguments and URLs of servers. A value stays secret after it was removed from the
 * configuration.
 */
@Injectable()
export class SecretRedactor {
  private readonly listeners = new ListenerSet<Parameters<Listener>>();
  private secrets: ReadonlySet<string> = new Set();
  /** The secrets that no role can read through the API: values from the environment, and the admin tokens. */
  private hidden: ReadonlySet<string> = new Set();
  /** Built from `secrets` and `hidden` when they are needed. */
  private patterns: SubstringSet | undefined;
  private hiddenPatterns: SubstringSet | undefined;
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

  /** The JSON text of a response, redacted. Lists may be long, so their items are redacted and encoded in slices. */
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
      const due = yieldIfDue();
      if (due) await due;
      texts.push(JSON.stringify(this.redact(item)));
    }
    return `[${texts.join(',')}]`;
  }

  /** The text with this mask in place of every secret; for an admin, only in place of the `hidden` ones. */
  maskText(text: string, mask: string, role: AdminRole): string {
    if (role !== 'admin') return this.allPatterns.replaceIn(text, mask);
    this.hiddenPatterns ??= new SubstringSet(this.hidden);
    return this.hiddenPatterns.replaceIn(text, mask);
  }

  /** Marks an object of a response whose secrets are masked already, so that it is not redacted. */
  keepMasked<T extends object>(value: T): T {
    this.maskedObjects.add(value);
    return value;
  }

  private redactText(text: string): string {
    return this.allPatterns.replaceIn(text, REDACTED);
  }

  private get allPatterns(): SubstringSet {
    return (this.patterns ??= new SubstringSet(this.secrets));
  }

  private collect(): void {
    const hidden = new Set([...this.hidden, ...this.live.current.secrets, ...this.tokens.secrets]);
    const ofServers = [...this.desired.current.values()].flatMap(({ config }) => secretsOf(config));
    const all = new Set([...this.secrets, ...hidden, ...ofServers]);
    if (all.size === this.secrets.size && hidden.size === this.hidden.size) return;
    this.secrets = all;
    this.hidden = hidden;
    this.patterns = undefined;
    this.hiddenPatterns = undefined;
    this.listeners.emit(this.current);
  }
}

/** The whole values of variables or headers that are secrets, and the parts of values, arguments and URLs that are. */
function secretsOf(config: ServerConfig): string[] {
  const variables = Object.entries(config.type === 'stdio' ? config.env : config.headers);
  const values = variables.flatMap(([name, value]) =>
    [value, CREDENTIALS.exec(value)?.[1] ?? ''].filter((text) => isSecretValue(text, [name])),
  );
  const parts = [
    ...variables.flatMap(([, value]) => secretsIn(value)),
    ...(config.type === 'stdio'
      ? secretsInArgs(config.args)
      : [config.url, config.proxy ?? ''].flatMap(secretsIn)),
  ];
  return [...values, ...parts.filter((text) => isSecretValue(text, [SECRET_NAME]))];
}
