import { Naming } from '../../src/config/naming.js';
import { UNFETCHED_LISTING } from '../../src/core/catalog/catalog.js';
import type { JsonText } from '../../src/lib/json-text/json-text.js';
import type { Definition } from '../../src/core/naming/catalog-entry.js';
import type { NamingStyle } from '../../src/core/naming/naming.js';
import { ResourceList } from '../../src/core/resources/resource-list.js';
import { parseTemplates } from '../../src/core/resources/resource-template.js';
import { EVERYTHING, type Scope } from '../../src/core/scope.js';
import { ResourceSearch } from '../../src/meta-tools/resource-search.js';
import { resourceMetaTools } from '../../src/meta-tools/resource-meta-tools.js';
import { SummaryPager } from '../../src/meta-tools/summary-pager.js';
import { RandomCursorKey } from '../../src/state/random-cursor-key.js';
import { ToolSearch } from '../../src/meta-tools/name-search.js';
import { toolMetaTools } from '../../src/meta-tools/tool-meta-tools.js';
import { LATEST_REVISION } from '../../src/mcp/revisions/revision.js';
import type { McpContext } from '../../src/mcp/mcp-context.js';
import { MetaToolRegistry, type MetaTool } from '../../src/registry/meta-tool-registry.js';
import { Registry } from '../../src/registry/registry.service.js';
import { neverYield } from './resource-offers.js';

type Members = Readonly<Record<string, unknown>>;

/** The result of a meta tool. */
export interface Answer {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: Members;
  readonly isError?: boolean;
}

const definitions = (key: string, listed: readonly Members[]): Definition[] =>
  listed.map((members) => {
    const { title, description } = members;
    return {
      name: String(members[key]),
      text: JSON.stringify(members),
      ...(typeof title === 'string' && { title }),
      ...(typeof description === 'string' && { description }),
    };
  });

/** A registry with listings of the spec, the search indexes and the meta tools. */
export class MetaToolHarness {
  readonly registry: Registry;
  readonly resourceSearch: ResourceSearch;
  readonly toolSearch: ToolSearch;
  readonly tools: readonly MetaTool[];
  private readonly metaTools: MetaToolRegistry;

  constructor(naming: Partial<Naming> = {}) {
    this.registry = new Registry(Object.assign(new Naming(), naming));
    this.metaTools = new MetaToolRegistry(this.registry);
    this.resourceSearch = new ResourceSearch(this.registry);
    this.resourceSearch.onModuleInit();
    this.toolSearch = new ToolSearch(this.registry);
    const pager = new SummaryPager(200, new RandomCursorKey());
    this.tools = [
      ...resourceMetaTools(this.registry, this.resourceSearch, pager),
      ...toolMetaTools(this.registry, this.toolSearch, pager),
    ];
    void this.metaTools.register(this.tools);
  }

  /** Adds the listing of a server to the registry. The definitions are those that the server would list. */
  async put(
    id: string,
    listed: {
      readonly tools?: readonly Members[];
      readonly resources?: readonly Members[];
      readonly templates?: readonly Members[];
    },
    style: NamingStyle = 'always',
  ): Promise<void> {
    const { tools = [], resources = [], templates = [] } = listed;
    const read = await parseTemplates(id, definitions('uriTemplate', templates), neverYield);
    const list = await ResourceList.build(id, definitions('uri', resources), neverYield);
    await this.registry.put({
      id,
      rank: 0,
      style,
      disabledTools: new Set(),
      listing: {
        ...UNFETCHED_LISTING,
        tools: definitions('name', tools),
        resources: list,
        templates: read.templates,
      },
    });
  }

  async call(name: string, args: unknown, scope: Scope = EVERYTHING): Promise<Answer> {
    const context = { scope, revision: LATEST_REVISION } as McpContext;
    const result: JsonText = await this.metaTools.call(name, args, context);
    return JSON.parse(result.text) as Answer;
  }

  /** The structured content of the result. */
  async callStructured(name: string, args: unknown, scope: Scope = EVERYTHING): Promise<Members> {
    const { structuredContent, content } = await this.call(name, args, scope);
    if (!structuredContent) throw new Error(content[0]!.text);
    return structuredContent;
  }
}
