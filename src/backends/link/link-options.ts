import type { JsonText } from '../../lib/json-text/json-text.js';
import type { InputOutcome } from '../../metrics/metric-labels.js';
import type { EndedCalls } from './ended-calls.js';
import type { EraRecord } from './era-record.js';
import type { InboundOptions } from './inbound-messages.js';
import type { InitializeOptions } from './initialize.js';
import type { MonitorIntervals } from './link-monitor.js';
import type { Opening } from './negotiate-era.js';

export interface LinkOptions extends InitializeOptions, InboundOptions, MonitorIntervals {
  readonly server: string;
  /** How the link finds the protocol era of the server. By default, the era is 2025. */
  readonly opening?: Opening | undefined;
  /** The protocol era in which a link to the server was last opened. All links of the server share the record. */
  readonly eraRecord?: EraRecord | undefined;
  /**
   * The ended calls of the shared link and of the shared links before it: after a reconnect, a message that belongs to an
   * earlier call may come on the next link.
   */
  readonly endedCalls?: EndedCalls | undefined;
  /** Called for each result that requires input of the client (`input_required`), or has an unknown type. */
  readonly onInput?: ((outcome: InputOutcome) => void) | undefined;
  /** Replaces the server's own URIs with public URIs in the params of a request that the server sends. */
  readonly toPublicParams?: ((params: JsonText) => JsonText | Promise<JsonText>) | undefined;
}
