import { Injectable } from '@nestjs/common';
import { DesiredServers } from '../backends/desired-servers.js';
import { LiveConfig } from '../config/live-config.js';
import type { ServerConfig } from '../config/servers-config.js';
import { AdminToken } from './admin-token.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';

export const REDACTED = '[redacted]';

/** What is shorter, or a word like `production`, would black out half of every answer and protect nothing. */
const SHORTEST = 8;
const WORD = /^[a-z]+$/i;
/** `Bearer abc`: a server may well repeat the second half alone. */
const CREDENTIALS = /^\S+ +(\S+)$/;

/** A server that starts with a new secret may log it at once. */
const BEFORE_OTHER_LISTENERS = -1;

type Listener = (secrets: readonly string[]) => void;

/**
 * Every value that must appear in no answer and no log line: what the config took from the environment, the admin
 * tokens, and whatever stands in a header or an environment of a server. What was once a secret stays one.
 */
@Injectable()
export class SecretRedactor {
  private readonly listeners = new ListenerSet<Parameters<Listener>>();
  private values = new Set<string>();
  private longestFirst: readonly string[] = [];

  constructor(
    private readonly live: LiveConfig,
    private readonly tokens: AdminToken,
    private readonly desired: DesiredServers,
  ) {
    this.collect();
    desired.onChange(() => this.collect(), BEFORE_OTHER_LISTENERS);
    live.onChange(() => this.collect(), BEFORE_OTHER_LISTENERS);
  }

  get current(): readonly string[] {
    return this.longestFirst;
  }

  /** Told whenever there are new ones. */
  onChange(listener: Listener): () => void {
    return this.listeners.add(listener);
  }

  /** A copy of a JSON value without any of them. */
  redact(value: unknown): unknown {
    if (typeof value === 'string') return this.redactText(value);
    if (Array.isArray(value)) return value.map((item) => this.redact(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [this.redactText(name), this.redact(item)]),
    );
  }

  private redactText(text: string): string {
    return this.longestFirst.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text);
  }

  private collect(): void {
    const found = [
      ...this.live.current.secrets,
      ...this.tokens.secrets,
      ...[...this.desired.current.values()].flatMap(({ config }) => secretsOf(config)),
    ];
    const all = new Set([...this.values, ...found]);
    if (all.size === this.values.size) return;
    this.values = all;
    this.longestFirst = [...all].toSorted((a, b) => b.length - a.length);
    this.listeners.emit(this.longestFirst);
  }
}

function secretsOf(config: ServerConfig): string[] {
  const values = Object.values(config.type === 'stdio' ? config.env : config.headers);
  return values
    .flatMap((value) => [value, CREDENTIALS.exec(value)?.[1] ?? ''])
    .filter((value) => value.length >= SHORTEST && !WORD.test(value));
}
