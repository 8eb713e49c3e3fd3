import { TextList } from './schema/keys.js';

/** What must be there before the gateway takes requests. */
export class ReadinessSettings {
  @TextList(
    'Servers that must have been connected once before the gateway is ready. Losing one later does not count.',
    {
      open: true,
    },
  )
  readonly requireServers: readonly string[] = [];
}
