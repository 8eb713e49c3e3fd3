import type { NamingStyle } from '../core/naming/naming.js';
import type { ResourceStyle } from '../core/resources/resource-uri.js';
import { Choice, Text } from './schema/keys.js';

export const NAMING_STYLES = ['always', 'conflict', 'never'] as const satisfies readonly NamingStyle[];
const RESOURCE_STYLES = ['resource', 'underscore', 'original'] as const satisfies readonly ResourceStyle[];

/** How public names and URIs are formed. */
export class Naming {
  @Choice(
    NAMING_STYLES,
    'Whether public names start with the server id: always, only for names that two servers in the scope of the client ' +
      'share (conflict), or never. Characters other than A-Z a-z 0-9 _ - are replaced, and a digest is added to a name with ' +
      'such characters.',
  )
  readonly tools: NamingStyle = 'always';

  @Text('Separator between server id and own name. A dot is replaced in public names.', {
    rule: { pattern: /^[A-Za-z0-9_.-]{1,8}$/, requirement: 'must be 1 to 8 characters of A-Z a-z 0-9 _ . -' },
    mayBeLogged: true,
  })
  readonly separator: string = '__';

  @Choice(
    RESOURCE_STYLES,
    'Form of public URIs: server id and own URI (resource), an identifier without special characters (underscore), ' +
      'or the own URI unless another server in the scope of the client has the same (original). Every form is accepted in ' +
      'requests.',
  )
  readonly resources: ResourceStyle = 'resource';
}
