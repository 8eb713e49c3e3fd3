import { ConfigError } from '../config/config-error.js';
import { readServer } from '../config/read-server.js';
import { SERVER_ID, type ServerConfig } from '../config/servers-config.js';
import { invalidInput } from './admin-problem.js';
import type { PlainObject } from './plain-object.js';

/** Holds a definition to the rules of the config file; what is wrong with it is named field by field. */
export function readDefinition(id: string, definition: PlainObject): ServerConfig {
  if (!SERVER_ID.pattern.test(id)) throw invalidInput([{ field: 'id', message: SERVER_ID.says }]);
  try {
    return readServer(id, definition);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw invalidInput(error.problems.map(({ path, what }) => ({ field: path, message: what })));
  }
}
