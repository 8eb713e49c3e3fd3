import { HttpSettings } from './http-settings.js';
import { Limits } from './limits.js';
import { LogSettings } from './log-settings.js';
import { Naming } from './naming.js';
import { Entries, Section, Text } from './schema/keys.js';
import { SERVER, SERVER_ID, ServersConfig, type ServerConfig } from './servers-config.js';
import { ShutdownSettings } from './shutdown-settings.js';

/** The whole configuration, with every default filled in. Made by loadConfig, deeply frozen. */
export class GatehouseConfig {
  @Text('The JSON Schema an editor checks this file against. The gateway itself does not read it.', {
    open: true,
  })
  readonly $schema?: string;

  @Section(HttpSettings, 'Where the gateway listens and whom it answers.')
  readonly http: HttpSettings = new HttpSettings();

  /** A relative path starts at the gateway's working directory. */
  @Text('Directory for what must survive a restart; created with mode 0700.', { open: true })
  readonly stateDir: string = '.gatehouse';

  @Entries(
    SERVER_ID,
    SERVER,
    (servers) => new ServersConfig(servers as ReadonlyMap<string, ServerConfig>),
    'The servers behind the gateway, by id, in the shape MCP clients use.',
  )
  readonly mcpServers: ServersConfig = new ServersConfig();

  @Section(Naming, 'How tools and prompts of many servers share one list.')
  readonly naming: Naming = new Naming();

  @Section(Limits, 'How much is held for clients and taken from servers. No number means "unlimited".')
  readonly limits: Limits = new Limits();

  @Section(ShutdownSettings, 'How the gateway ends.')
  readonly shutdown: ShutdownSettings = new ShutdownSettings();

  @Section(LogSettings, 'What is written to stderr.')
  readonly log: LogSettings = new LogSettings();

  /** No key: values that came from the environment and must not appear in logs or answers. */
  readonly secrets: readonly string[] = [];
}
