import { SERVER_ID } from './servers-config.js';
import { Text, TextList } from './schema/keys.js';
import type { TextRule } from './schema/shape.js';

/** A project: a named subset of the servers. */
export class ProjectConfig {
  @TextList('Ids of the servers that belong to the project.', { rule: SERVER_ID, mayBeLogged: true })
  readonly servers: readonly string[] = [];

  @Text('Short description of the project.', { mayBeLogged: true })
  readonly description?: string;
}

export const PROJECT_ID: TextRule = {
  pattern: /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/,
  requirement:
    'must be a project id: 1 to 64 characters of A-Z a-z 0-9 _ . -, the first of which is a letter or digit',
};
