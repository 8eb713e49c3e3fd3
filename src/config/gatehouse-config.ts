import { AdminSettings } from './admin-settings.js';
import { AuthSettings, NO_AUTH } from './auth-settings.js';
import { HttpSettings } from './http-settings.js';
import { Limits } from './limits.js';
import { LogSettings } from './log-settings.js';
import { MetricsSettings } from './metrics-settings.js';
import { Naming } from './naming.js';
import { PROJECT_ID, ProjectConfig } from './projects-config.js';
import { ReadinessSettings } from './readiness-settings.js';
import { Entries, Flag, Section, Text } from './schema/keys.js';
import { Rule } from './schema/rule.js';
import { sectionOf } from './schema/shape.js';
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

  /** Without a word on it everybody is let in; an `auth` that is there but empty could mean that or the contrary. */
  @Rule<AuthSettings>(
    'auth',
    (auth) => auth === NO_AUTH || auth.isConfigured,
    'must hold apiKeys or jwt; leave it out to serve everybody on loopback',
  )
  @Section(AuthSettings, 'How clients prove who they are. Left out, everybody on loopback is served.')
  readonly auth: AuthSettings = NO_AUTH;

  @Section(AdminSettings, 'Who may administer the gateway, and how far.')
  readonly admin: AdminSettings = new AdminSettings();

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

  @Entries(
    PROJECT_ID,
    sectionOf(ProjectConfig),
    (projects) => projects,
    'Views on some of the servers, by id. A client that names a project sees nothing else.',
  )
  readonly projects: ReadonlyMap<string, ProjectConfig> = new Map();

  @Section(Naming, 'How what many servers offer shares one list.')
  readonly naming: Naming = new Naming();

  @Flag('Whether clients get tools that search and describe what the servers offer.')
  readonly metaTools: boolean = true;

  @Section(Limits, 'How much is held for clients and taken from servers. No number means "unlimited".')
  readonly limits: Limits = new Limits();

  @Section(MetricsSettings, 'Who may read the metrics.')
  readonly metrics: MetricsSettings = new MetricsSettings();

  @Section(ReadinessSettings, 'What must be there before the gateway takes requests.')
  readonly readiness: ReadinessSettings = new ReadinessSettings();

  @Section(ShutdownSettings, 'How the gateway ends.')
  readonly shutdown: ShutdownSettings = new ShutdownSettings();

  @Section(LogSettings, 'What is written to stderr.')
  readonly log: LogSettings = new LogSettings();

  /** No key: values that came from the environment and must not appear in logs or answers. */
  readonly secrets: readonly string[] = [];
}
