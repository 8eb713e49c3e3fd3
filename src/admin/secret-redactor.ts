import { Injectable } from '@nestjs/common';
import { DesiredServers } from '../backends/desired-servers.js';
import { LiveConfig } from '../config/live-config.js';
import type { ServerConfig } from '../config/servers-config.js';
import { isJsonObject } from '../lib/json-text/json-value.js';
import { AdminTokens } from './admin-tokens.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';
import type { Yield } from '../lib/slices/slices.js';
import { SubstringSet } from '../lib/substrings/substring-set.js';

export const REDACTED = '[redacted]';

/** Shorter values and plain words such as `production` occur in ordinary text and are not redacted. */
const MIN_SECRET_LENGTH = 8;
const WORD = /^[a-z]+$/i;
/** A value such as `Bearer abc`. A server may log its second part alone. */
const CREDENTIALS = /^\S+ +(\S+)$/;

/** New secrets are collected before a server starts with them, because the server may log them at once. */
const BEFORE_OTHER_LISTENERS = -1;

type Listener = (secrets: readonly string[]) => void;

/**
 * Removes secrets from responses and log lines: values that the configuration took from the environment, the admin tokens,
 * and the values of headers and environments of servers. A value stays secret after it was removed from the configuration.
 */
@Injectable()
export class SecretRedactor {
  private readonly listeners = new ListenerSet<Parameters<Listener>>();
  private values: ReadonlySet<string> = new Set();
  /** Built from `values` when it is needed. */
  private patterns: SubstringSet | undefined;

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
    return [...this.values];
  }

  /** Calls the listener when there are new secrets. */
  onChange(listener: Listener): () => void {
    return this.listeners.add(listener);
  }

  /** A copy of a JSON value with every secret replaced. */
  redact(value: unknown): unknown {
    if (typeof value === 'string') return this.redactText(value);
    if (Array.isArray(value)) return value.map((item) => this.redact(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [this.redactText(name), this.redact(item)]),
    );
  }

  /** The same for a response, whose lists may be long: their items are redacted in slices. */
  async redactPage(value: unknown, yieldIfDue: Yield): Promise<unknown> {
    if (!isJsonObject(value)) return this.redact(value);
    const page: [string, unknown][] = [];
    for (const [name, member] of Object.entries(value))
      page.push([
        this.redactText(name),
        Array.isArray(member) ? await this.redactItems(member, yieldIfDue) : this.redact(member),
      ]);
    return Object.fromEntries(page);
  }

  private async redactItems(items: readonly unknown[], yieldIfDue: Yield): Promise<unknown[]> {
    const redacted: unknown[] = [];
    for (const item of items) {
      const due = yieldIfDue();
      if (due) await due;
      redacted.push(this.redact(item));
    }
    return redacted;
  }

  private redactText(text: string): string {
    this.patterns ??= new SubstringSet(this.values);
    return this.patterns.replaceIn(text, REDACTED);
  }

  private collect(): void {
    const current = [
      ...this.live.current.secrets,
      ...this.tokens.secrets,
      ...[...this.desired.current.values()].flatMap(({ config }) => secretsOf(config)),
    ];
    const all = new Set([...this.values, ...current]);
    if (all.size === this.values.size) return;
    this.values = all;
    this.patterns = undefined;
    this.listeners.emit(this.current);
  }
}

function secretsOf(config: ServerConfig): string[] {
  const values = Object.values(config.type === 'stdio' ? config.env : config.headers);
  return values
    .flatMap((value) => [value, CREDENTIALS.exec(value)?.[1] ?? ''])
    .filter((value) => value.length >= MIN_SECRET_LENGTH && !WORD.test(value));
}
