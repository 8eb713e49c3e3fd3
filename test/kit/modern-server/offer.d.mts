import type { McpServer } from '@modelcontextprotocol/server';

export interface ModernServerState {
  text: string;
  /** The name in the header in which the tool `route` expects its argument `region`. */
  regionHeader: string;
  readonly extraTools: string[];
  /** Calls of `wait` that have begun, and that were cancelled. */
  waiting: number;
  cancelled: number;
  /** Ends the last call of `wait`. */
  release(): void;
}

export declare function createState(): ModernServerState;
export declare function buildServer(state?: ModernServerState): McpServer;
