import type { ClientCapabilities, Implementation } from '@modelcontextprotocol/sdk/types.js';
import { clientLabel, type ClientProfile } from '../mcp/client-profile.js';

/**
 * The capabilities and name that the client declared in `initialize`. They are stored as JSON, because a parsed profile
 * takes up to ten times the memory and is rarely needed.
 */
export class SessionProfile {
  private json = '{"capabilities":{}}';
  private label: string | undefined;

  set({ capabilities, clientInfo }: ClientProfile): void {
    this.json = JSON.stringify({ capabilities, clientInfo });
  }

  /** Restores the profile from the `text` that the previous process stored. */
  restore(json: string): void {
    this.json = json;
  }

  /** The profile as JSON. It is stored for the next process. */
  get text(): string {
    return this.json;
  }

  get capabilities(): ClientCapabilities {
    return this.parse().capabilities;
  }

  get clientInfo(): Implementation | undefined {
    return this.parse().clientInfo;
  }

  /** Name and version of the client, for logs. */
  get clientLabel(): string | undefined {
    return (this.label ??= clientLabel(this.clientInfo));
  }

  private parse(): ClientProfile {
    return JSON.parse(this.json) as ClientProfile;
  }
}
