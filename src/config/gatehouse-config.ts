import { AdminSettings } from './admin-settings.js';
import { AuthSettings, NO_AUTH } from './auth-settings.js';
import { HttpSettings } from './http-settings.js';
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

/** The whole configuration with defaults. Created by loadConfig, deeply frozen. */
export class GatehouseConfig {
  @Text('JSON Schema for editors. The gateway does not read this key.', {
    open: true,
  })
  readonly $schema?: string;

  @Section(HttpSettings, 'Where the gateway listens and whom it answers.')
  readonly http: HttpSettings = new HttpSettings();

  /** Without `auth` every client is accepted. An empty `auth` is refused, because it could mean either. */
  @Rule<AuthSettings>(
    'auth',
    (auth) => auth === NO_AUTH || auth.isConfigured,
    'must contain apiKeys or jwt; remove it to serve every client on loopback',
  )
  @Section(AuthSettings, 'Authentication of clients. Without it, every client on loopback is served.')
  readonly auth: AuthSettings = NO_AUTH;

  @Section(AdminSettings, 'Who may administer the gateway, and how far.')
  readonly admin: AdminSettings = new AdminSettings();

  /** A relative path is resolved against the working directory of the gateway. */
  @Text('Directory of the durable state; created with mode 0700.', { open: true })
  readonly stateDir: string = '.gatehouse';

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

  @Section(Naming, 'How what many servers offer shares one list.')
  readonly naming: Naming = new Naming();

  @Flag('Whether the meta tools, which search and describe tools and resources, are listed.')
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

  /** Not a key: values from the environment that must not appear in logs or responses. */
  readonly secrets: readonly string[] = [];
}
