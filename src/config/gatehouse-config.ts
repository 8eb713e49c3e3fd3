import { AdminSettings } from './admin-settings.js';
import { AuthSettings, NO_AUTH } from './auth-settings.js';
import { DecisionSettings } from './decision-settings.js';
import { HttpSettings } from './http-settings.js';
import { InstructionSettings } from './instruction-settings.js';
import { Limits } from './limits.js';
import { LogSettings } from './log-settings.js';
import { MetricsSettings } from './metrics-settings.js';
import { Naming } from './naming.js';
import { PROJECT_ID, ProjectConfig } from './projects-config.js';
import { ReadinessSettings } from './readiness-settings.js';
import { SectionRecord, Flag, Section, Text } from './schema/keys.js';
import { Rule } from './schema/rule.js';
import { sectionOf } from './schema/shape.js';
import { SERVER_SHAPE, SERVER_ID, ServersConfig, type ServerConfig } from './servers-config.js';
import { ShutdownSettings } from './shutdown-settings.js';
import { StartupSettings } from './startup-settings.js';

/**
 * The whole configuration, with defaults in place of missing keys. `readConfig` creates it and freezes it at every depth.
 */
export class GatehouseConfig {
  @Text('JSON Schema for editors. The gateway does not read this key.', {
    mayBeLogged: true,
  })
  readonly $schema?: string;

  @Section(HttpSettings, 'Listening address, and accepted Host and Origin headers.')
  readonly http: HttpSettings = new HttpSettings();

  /** Without `auth`, every client is accepted. An empty `auth` is refused: it could mean every client or no client. */
  @Rule<AuthSettings>(
    'auth',
    (auth) => auth === NO_AUTH || auth.isConfigured,
    'must contain apiKeys or jwt; remove it to serve every client on loopback',
  )
  @Section(AuthSettings, 'Authentication of clients. Without it, every client on loopback is served.')
  readonly auth: AuthSettings = NO_AUTH;

  @Section(AdminSettings, 'Access to the admin API.')
  readonly admin: AdminSettings = new AdminSettings();

  /** A relative path is resolved against the working directory of the gateway. */
  @Text('Directory of the durable state; created with mode 0700.', { mayBeLogged: true })
  readonly stateDir: string = '.gatehouse';

  @Section(DecisionSettings, 'Decisions of administrators.')
  readonly decisions: DecisionSettings = new DecisionSettings();

  @SectionRecord(
    SERVER_ID,
    SERVER_SHAPE,
    (servers) => new ServersConfig(servers as ReadonlyMap<string, ServerConfig>),
    'MCP servers by id, in the format that MCP clients use.',
  )
  readonly mcpServers: ServersConfig = new ServersConfig();

  @SectionRecord(
    PROJECT_ID,
    sectionOf(ProjectConfig),
    (projects) => projects,
    'Projects by id. A client that uses a project sees only the servers of that project.',
  )
  readonly projects: ReadonlyMap<string, ProjectConfig> = new Map();

  @Section(Naming, 'How public names and URIs are formed.')
  readonly naming: Naming = new Naming();

  @Flag('Whether the meta tools, which search and describe tools and resources, are listed.')
  readonly metaTools: boolean = true;

  @Section(InstructionSettings, 'Instructions of servers for models, in the response to `initialize`.')
  readonly instructions: InstructionSettings = new InstructionSettings();

  @Section(Limits, 'Resource limits. There is no value for "unlimited".')
  readonly limits: Limits = new Limits();

  @Section(MetricsSettings, 'Access to the metrics.')
  readonly metrics: MetricsSettings = new MetricsSettings();

  @Section(ReadinessSettings, 'Conditions of readiness.')
  readonly readiness: ReadinessSettings = new ReadinessSettings();

  @Section(StartupSettings, 'Start of the servers.')
  readonly startup: StartupSettings = new StartupSettings();

  @Section(ShutdownSettings, 'Graceful shutdown.')
  readonly shutdown: ShutdownSettings = new ShutdownSettings();

  @Section(LogSettings, 'Logging to stderr.')
  readonly log: LogSettings = new LogSettings();

  /** Values from the environment that must not appear in logs or responses. This is not a configuration key. */
  readonly secrets: readonly string[] = [];

  /** How keys of other MCP clients were read, as log texts for operators. This is not a configuration key. */
  readonly notes: readonly string[] = [];
}
