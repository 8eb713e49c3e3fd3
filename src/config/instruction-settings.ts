import { Integer, TextList } from './schema/keys.js';

/** Which servers' instructions for models are sent to clients, and how many bytes of them. */
export class InstructionSettings {
  @Integer(
    0,
    1_048_576,
    'Maximum total size in bytes of the instructions of all servers in the scope of a client. If it is exceeded, the longest ' +
      'instructions are cut.',
  )
  readonly maxBytes: number = 8_192;

  @TextList('Servers whose instructions are included.', { mayBeLogged: true, words: ['all', 'none'] })
  readonly include: 'all' | 'none' | readonly string[] = 'all';
}
