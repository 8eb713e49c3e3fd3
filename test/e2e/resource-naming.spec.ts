import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { RawSession } from '../kit/raw-session.js';
import { connectV1, connectV2 } from '../kit/sdk-clients.js';
import { ScriptedServer } from '../kit/scripted-server/scripted-server.js';
import { contents } from '../kit/scripted-server/scripted-resources.js';

const LOG = 'file:///logs/app.log';
const SHARED = 'config://app/settings.json';
const ARCHIVE = 'file:///archive/{year}/{name}';
const SECTION = 'config://app/{section}';

/** Would have the same identifier as `file:///a_b`. */
const PLUS = 'file:///a+b';
const digestOf = (uri: string): string => createHash('sha256').update(uri).digest('hex').slice(0, 8);
const digest = digestOf('file:///a_b');

const STYLES = ['resource', 'underscore', 'original'] as const;
type Style = (typeof STYLES)[number];

const LISTS: Record<Style, readonly string[]> = {
  resource: [
    `resource://filesystem/${SHARED}`,
    `resource://filesystem/${PLUS}`,
    'resource://filesystem/file:///a_b',
    'resource://filesystem/file:///config/app.json',
    `resource://filesystem/${LOG}`,
    `resource://s3/${SHARED}`,
    'resource://s3/s3://bucket/config/app.json',
    'ui://filesystem/panel/main',
  ],
  underscore: [
    'filesystem_config___app_settings.json',
    `filesystem_file___a_b~${digestOf(PLUS)}`,
    `filesystem_file___a_b~${digest}`,
    'filesystem_file___config_app.json',
    'filesystem_file___logs_app.log',
    's3_config___app_settings.json',
    's3_s3___bucket_config_app.json',
    'ui://filesystem/panel/main',
  ],
  original: [
    PLUS,
    'file:///a_b',
    'file:///config/app.json',
    LOG,
    `resource://filesystem/${SHARED}`,
    `resource://s3/${SHARED}`,
    's3://bucket/config/app.json',
    'ui://filesystem/panel/main',
  ],
};

const TEMPLATE_LISTS: Record<Style, readonly string[]> = {
  resource: [
    `resource://filesystem/${SECTION}`,
    `resource://filesystem/${ARCHIVE}`,
    `resource://s3/${SECTION}`,
    'resource://s3/s3://bucket{/path*}{?version}',
  ],
  underscore: [
    'filesystem_config___app_{section}',
    'filesystem_file___archive_{year}_{name}',
    's3_config___app_{section}',
    's3_s3___bucket{/path*}{?version}',
  ],
  original: [
    ARCHIVE,
    `resource://filesystem/${SECTION}`,
    `resource://s3/${SECTION}`,
    's3://bucket{/path*}{?version}',
  ],
};

/** A resource, the forms in which a client may name it, and its public URI in each style. */
interface NamedResource {
  readonly server: 'filesystem' | 's3';
  readonly own: string;
  readonly forms: readonly string[];
  readonly public: Record<Style, string>;
}

const NAMED: readonly NamedResource[] = [
  {
    server: 'filesystem',
    own: LOG,
    forms: [`resource://filesystem/${LOG}`, 'filesystem_file___logs_app.log', LOG],
    public: {
      resource: `resource://filesystem/${LOG}`,
      underscore: 'filesystem_file___logs_app.log',
      original: LOG,
    },
  },
  {
    server: 's3',
    own: SHARED,
    forms: [`resource://s3/${SHARED}`, 's3_config___app_settings.json'],
    public: {
      resource: `resource://s3/${SHARED}`,
      underscore: 's3_config___app_settings.json',
      original: `resource://s3/${SHARED}`,
    },
  },
  {
    server: 'filesystem',
    own: 'file:///a_b',
    forms: ['resource://filesystem/file:///a_b', `filesystem_file___a_b~${digest}`, 'file:///a_b'],
    public: {
      resource: 'resource://filesystem/file:///a_b',
      underscore: `filesystem_file___a_b~${digest}`,
      original: 'file:///a_b',
    },
  },
  {
    server: 'filesystem',
    own: 'ui://panel/main',
    forms: ['ui://filesystem/panel/main', 'filesystem_ui___panel_main', 'ui://panel/main'],
    public: {
      resource: 'ui://filesystem/panel/main',
      underscore: 'ui://filesystem/panel/main',
      original: 'ui://filesystem/panel/main',
    },
  },
  {
    server: 'filesystem',
    own: 'file:///archive/2024/report.pdf',
    forms: [
      'resource://filesystem/file:///archive/2024/report.pdf',
      'filesystem_file___archive_2024_report.pdf',
      'file:///archive/2024/report.pdf',
    ],
    public: {
      resource: 'resource://filesystem/file:///archive/2024/report.pdf',
      underscore: 'filesystem_file___archive_2024_report.pdf',
      original: 'file:///archive/2024/report.pdf',
    },
  },
  {
    server: 's3',
    own: 's3://bucket/a/b?version=3',
    forms: [
      'resource://s3/s3://bucket/a/b?version=3',
      's3_s3___bucket/a/b?version=3',
      's3://bucket/a/b?version=3',
    ],
    public: {
      resource: 'resource://s3/s3://bucket/a/b?version=3',
      underscore: 's3_s3___bucket/a/b?version=3',
      original: 's3://bucket/a/b?version=3',
    },
  },
  {
    server: 's3',
    own: 'config://app/logging',
    forms: ['resource://s3/config://app/logging', 's3_config___app_logging'],
    public: {
      resource: 'resource://s3/config://app/logging',
      underscore: 's3_config___app_logging',
      original: 'resource://s3/config://app/logging',
    },
  },
];

describe('public resource URIs', () => {
  const servers = {} as Record<NamedResource['server'], ScriptedServer>;

  beforeAll(async () => {
    for (const id of ['filesystem', 's3'] as const) servers[id] = await ScriptedServer.start();
    const { filesystem, s3 } = servers;
    for (const uri of [LOG, 'file:///config/app.json', SHARED, 'file:///a_b', PLUS, 'ui://panel/main'])
      filesystem.resource(uri);
    filesystem.template(ARCHIVE).template(SECTION);
    s3.resource('s3://bucket/config/app.json').resource(SHARED);
    s3.template(SECTION).template('s3://bucket{/path*}{?version}');
  });

  describe.each(STYLES)('in style %s', (style) => {
    let gateway: Gateway;
    let session: RawSession;

    beforeAll(async () => {
      gateway = await startGateway({
        naming: { resources: style },
        mcpServers: { filesystem: servers.filesystem.http, s3: servers.s3.http },
      });
      const both = ['filesystem', 's3'];
      await gateway.listed({ resources: both, resourceTemplates: both });
      session = await RawSession.open(gateway.url);
    });

    it('are listed in that style, sorted and unique', async () => {
      const resources = await session.list('resources');
      expect(resources.map(({ uri }) => uri)).toEqual(LISTS[style]);
      const templates = await session.list('resourceTemplates');
      expect(templates.map(({ uriTemplate }) => uriTemplate)).toEqual(TEMPLATE_LISTS[style]);
    });

    it('come with the identifier of each resource in _meta', async () => {
      const resources = await session.list('resources');
      const ids = resources.map(({ _meta }) => _meta?.['io.gatehouse/id']);
      const plain = LISTS.underscore.filter((uri) => !uri.startsWith('ui:'));
      expect(new Set(ids)).toEqual(new Set([...plain, 'filesystem_ui___panel_main']));
      const [template] = await session.list('resourceTemplates');
      const id = TEMPLATE_LISTS.underscore[style === 'original' ? 1 : 0];
      expect(template).toMatchObject({
        _meta: { 'io.gatehouse/server': 'filesystem', 'io.gatehouse/id': id },
      });
    });

    it.each(NAMED)('are accepted in every form and returned in the listed form ($own)', async (named) => {
      const { server, own, forms } = named;
      for (const form of forms) {
        const { result, error } = await session.read(form);
        expect([form, error, result]).toEqual([
          form,
          undefined,
          contents(named.public[style], `read ${own}`),
        ]);
        expect(servers[server].messages('resources/read').at(-1)?.message.params).toEqual({ uri: own });
      }
    });

    it('do not include an own URI that two servers share', async () => {
      const { error } = await session.read(SHARED);
      expect(error).toMatchObject({ code: -32002, data: { uri: SHARED } });
      const instance = await session.read('config://app/logging');
      expect(instance.error).toMatchObject({ code: -32002 });
    });

    it('can be read by clients of both SDKs, as listed and as expanded from a template', async () => {
      for (const client of [await connectV1(gateway.url), await connectV2(gateway.url)]) {
        const { resources } = await client.listResources();
        expect(resources.map(({ uri }) => uri)).toEqual(LISTS[style]);
        for (const { uri } of resources) {
          const read = await client.readResource({ uri });
          expect(read.contents).toEqual([expect.objectContaining({ uri, mimeType: 'text/plain' })]);
        }
        const { resourceTemplates } = await client.listResourceTemplates();
        const archive = resourceTemplates.find(({ name }) => name === `any ${ARCHIVE}`)!;
        const uri = archive.uriTemplate.replace('{year}', '1999').replace('{name}', 'y2k.md');
        const read = await client.readResource({ uri });
        expect(read).toMatchObject(contents(uri, 'read file:///archive/1999/y2k.md'));
      }
    });
  });
});
