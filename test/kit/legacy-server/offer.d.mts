import type { Server } from '@modelcontextprotocol/sdk/server/index.js';

export interface LegacyState {
  text: string;
  readonly notify: Set<() => void>;
}

export function createState(): LegacyState;
export function sendUpdates(state: LegacyState): void;
export function buildServer(state?: LegacyState): Server;
