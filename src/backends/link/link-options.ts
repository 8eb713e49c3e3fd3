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
  /** How the link finds the era of the server; by default it is 2025. */
  readonly opening?: Opening | undefined;
  /** The verdict that the links of one server share. */
  readonly eraRecord?: EraRecord | undefined;
  /** The ended calls of all links that clients share: after a reconnect, a message of a call may come on the next link. */
  readonly endedCalls?: EndedCalls | undefined;
  /** Called when the input that a server required was obtained from the client, or could not be. */
  readonly onInput?: ((outcome: InputOutcome) => void) | undefined;
  /** Rewrites own URIs in the params of a server request to public ones. */
  readonly toPublicParams?: ((params: JsonText) => JsonText | Promise<JsonText>) | undefined;
}
