import type { Principal } from '../../mcp/principal.js';

const MAX_TOKENS = 10_000;

interface VerifiedToken {
  readonly principal: Principal;
  /** Milliseconds since the epoch. */
  readonly validUntil: number;
}

/** An LRU cache of the principals of verified tokens. Its keys are the SHA-256 digests of the tokens. */
export class VerifiedTokens {
  private readonly tokens = new Map<string, VerifiedToken>();

  constructor(private readonly maxTokens = MAX_TOKENS) {}

  get size(): number {
    return this.tokens.size;
  }

  get(digest: string, now: number): Principal | undefined {
    const token = this.tokens.get(digest);
    if (!token) return undefined;
    this.tokens.delete(digest);
    if (now >= token.validUntil) return undefined;
    this.tokens.set(digest, token);
    return token.principal;
  }

  add(digest: string, token: VerifiedToken): void {
    this.tokens.set(digest, token);
    if (this.tokens.size <= this.maxTokens) return;
    const [oldest] = this.tokens.keys();
    this.tokens.delete(oldest!);
  }

  clear(): void {
    this.tokens.clear();
  }
}
