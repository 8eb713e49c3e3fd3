import { Integer, TextList } from './schema/keys.js';

/** What clients get of the instructions that servers have for models. */
export class InstructionSettings {
  @Integer(
    0,
    1_048_576,
    'Maximum size in bytes of the instructions of all servers in the scope of the client together. If it is exceeded, the ' +
      'longest instructions are cut.',
  )
  readonly maxBytes: number = 8_192;

  @TextList('Servers whose instructions are included.', { isPublic: true, words: ['all', 'none'] })
  readonly include: 'all' | 'none' | readonly string[] = 'all';
}
