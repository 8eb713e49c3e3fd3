import { TextList } from './schema/keys.js';

/** Conditions of readiness. */
export class ReadinessSettings {
  @TextList(
    'Servers that must have connected once before the gateway is ready. A later loss of connection does not make it unready.',
    {
      mayBeLogged: true,
    },
  )
  readonly requireServers: readonly string[] = [];
}
