import type { NamingStyle } from '../core/naming/naming.js';
import type { ResourceStyle } from '../core/resources/resource-uri.js';
import { Choice, Text } from './schema/keys.js';

export const NAMING_STYLES = ['always', 'conflict', 'never'] as const satisfies readonly NamingStyle[];
export const RESOURCE_STYLES = [
  'resource',
  'underscore',
  'original',
] as const satisfies readonly ResourceStyle[];

/** How what many servers offer shares one list. */
export class Naming {
  @Choice(
    NAMING_STYLES,
    'When a listed name starts with its server: always, only where two servers share it (conflict), or never.',
  )
  readonly tools: NamingStyle = 'always';

  @Text('What stands between server and name.', {
    rule: { pattern: /^[A-Za-z0-9_.-]{1,8}$/, says: 'must be 1 to 8 characters of A-Z a-z 0-9 _ . -' },
    open: true,
  })
  readonly separator: string = '__';

  @Choice(
    RESOURCE_STYLES,
    'How resources are listed: server and URI (resource), as an identifier without special characters ' +
      "(underscore), or under the server's own URI as long as no other server has it (original). " +
      'Every form is understood, whatever is listed.',
  )
  readonly resources: ResourceStyle = 'resource';
}
