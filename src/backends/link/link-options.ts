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
  /** The ended calls of all links of a server that clients share: a message may come on the link after that of its call. */
  readonly endedCalls?: EndedCalls | undefined;
  /** Called when the input that a server required was obtained from the client, or could not be. */
  readonly onInput?: ((outcome: InputOutcome) => void) | undefined;
  /** Rewrites own URIs in the params of a server request to public ones. */
  readonly toPublicParams?: ((params: JsonText) => JsonText | Promise<JsonText>) | undefined;
}
