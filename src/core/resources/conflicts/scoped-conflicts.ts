import type { Steps } from '../../../lib/slices/run-sliced.js';
import { splitPrefixedName } from '../../naming/naming.js';
import { ServersByUri } from './servers-by-uri.js';
import { withDistinctId, type ResourceTemplate } from '../resource-template.js';
import { resourceForm, type ResourceStyle } from '../resource-uri.js';
import type { ServerResources } from '../server-resources.js';
import { uriOwners } from '../uri-owners.js';

/** Everything that decides the public URIs and identifiers in a scope. */
interface ScopeOfResources {
  /** The resources of each server of the scope that has listed. */
  readonly parts: readonly ServerResources[];
  /** Whether the scope contains all servers that have listed. */
  readonly isComplete: boolean;
  /** The ids of all configured servers. */
  readonly servers: ReadonlySet<string>;
  readonly style: ResourceStyle;
}

/**
 * Returns the resources of each server with their public URIs and identifiers in this scope. In style `original`, the
 * public URI of a resource is its own URI, but the resource form in three cases: another server of the scope lists the
 * same URI, the URI belongs to another server (`uriOwners`), or the URI is the resource form or identifier of another
 * resource of the same server. In every style, an identifier that two servers of the scope share gets a digest in both.
 */
export function resourcesInScope(scope: ScopeOfResources): ResourcesInScope {
  const { parts, servers, style } = scope;
  const serversInScope = new Set(parts.map(({ server }) => server));
  const templates = new TemplateNames(scope);
  const uris = new SharedUris(scope);
  const inScope = parts.map((part) => {
    const { server, offer, possibleConflicts } = part;
    const { formLikeUris, sharedIds } = possibleConflicts;
    const idSets = [...sharedIds].flatMap(([other, ids]) => (serversInScope.has(other) ? [ids] : []));
    if (!uris.mayConflict(part) && formLikeUris.size === 0 && idSets.length === 0 && !templates.mayConflict)
      return part;
    /** Whether the own URI belongs to another server, or is a name of another resource of this server. */
    const isNameOfAnother = (uri: string): boolean => {
      if (!formLikeUris.has(uri)) return false;
      const owners = uriOwners(uri, servers);
      return owners.some((owner) => owner !== server) || (owners.length > 0 && part.isName(uri));
    };
    return part.inScope({
      isConflictingUri: (uri) => style === 'original' && (uris.isShared(uri, part) || isNameOfAnother(uri)),
      isConflictingId: (id) => idSets.some((ids) => ids.has(id)),
      isConflictingTemplate: (uriTemplate) => templates.isConflicting(server, uriTemplate),
      templates: templates.withDistinctIds(offer.templates),
    });
  });
  return { parts: inScope, findServers: () => uris.findServers() };
}

interface ResourcesInScope {
  readonly parts: readonly ServerResources[];
  /** A job that collects the servers of each shared URI. Run it before many URIs are checked: it makes each check cheaper. */
  readonly findServers: () => Steps;
}

const STEPS_BETWEEN_YIELDS = 256;

/** Own URIs that several servers of the scope list, in style `original`. */
class SharedUris {
  /** The servers of the scope with URIs that another server, in or outside the scope, lists too. */
  private readonly parts: readonly ServerResources[];
  /** Undefined until `findServers` has run. */
  private serversByUri: ServersByUri | undefined;

  constructor(private readonly scope: ScopeOfResources) {
    this.parts = scope.parts.filter(({ possibleConflicts }) => possibleConflicts.sharedUris.size > 0);
  }

  mayConflict({ possibleConflicts }: ServerResources): boolean {
    return possibleConflicts.sharedUris.size > 0 && this.parts.length > 1;
  }

  isShared(uri: string, part: ServerResources): boolean {
    if (this.parts.length <= 1 || !part.possibleConflicts.sharedUris.has(uri)) return false;
    // In a complete scope, the other server that lists the URI is in the scope.
    if (this.scope.isComplete) return true;
    if (this.serversByUri) return this.serversByUri.isShared(uri);
    return this.parts.some((other) => other !== part && other.list.find(uri) !== undefined);
  }

  *findServers(): Steps {
    if (this.serversByUri || this.scope.isComplete) return;
    const serversByUri = new ServersByUri();
    let step = 0;
    for (const { server, possibleConflicts } of this.parts)
      for (const uri of possibleConflicts.sharedUris) {
        if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
        serversByUri.add(uri, server);
      }
    this.serversByUri = serversByUri;
  }
}

/** Finds conflicts between the templates of a scope. */
class TemplateNames {
  /** Whether several templates may have the same name. */
  readonly mayConflict: boolean;
  /** In style `original`: how many servers have each URI template. */
  private readonly serverCounts = new Map<string, number>();
  /** In style `original`: the resource forms and identifiers of all templates. */
  private readonly names = new Set<string>();
  /** How many templates have each identifier. Empty unless a server id is a prefix of another one. */
  private readonly idCounts = new Map<string, number>();

  constructor(private readonly scope: ScopeOfResources) {
    const { parts, style } = scope;
    const idsOverlap = hasOverlappingIds(parts.map(({ server }) => server));
    this.mayConflict = style === 'original' || idsOverlap;
    if (!this.mayConflict) return;
    for (const { server, offer } of parts)
      for (const { uriTemplate, id } of offer.templates) {
        if (idsOverlap) this.idCounts.set(id, (this.idCounts.get(id) ?? 0) + 1);
        if (style !== 'original') continue;
        this.serverCounts.set(uriTemplate, (this.serverCounts.get(uriTemplate) ?? 0) + 1);
        this.names.add(resourceForm({ server, uri: uriTemplate })).add(id);
      }
  }

  /** Whether the own URI template is also a name of another template, or belongs to another server. */
  isConflicting(server: string, uriTemplate: string): boolean {
    const isShared = this.names.has(uriTemplate) || (this.serverCounts.get(uriTemplate) ?? 0) > 1;
    return isShared || uriOwners(uriTemplate, this.scope.servers).some((owner) => owner !== server);
  }

  /** The templates with a digest in each identifier that several templates share. The same array if there is none. */
  withDistinctIds(templates: readonly ResourceTemplate[]): readonly ResourceTemplate[] {
    const isShared = ({ id }: ResourceTemplate): boolean => (this.idCounts.get(id) ?? 0) > 1;
    if (!templates.some(isShared)) return templates;
    return templates.map((template) => (isShared(template) ? withDistinctId(template) : template));
  }
}

/** Whether the id of one server begins with the id of another server and an underscore. */
function hasOverlappingIds(servers: readonly string[]): boolean {
  const ids = new Set(servers);
  return servers.some((id) => [...splitPrefixedName(id, '_')].some(([start]) => ids.has(start)));
}
