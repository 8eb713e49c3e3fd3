import { Integer, TextList } from './schema/keys.js';

/** What clients get of the instructions that servers have for models. */
export class InstructionSettings {
  @Integer(
    0,
    1_048_576,
    'Maximum size of the instructions in bytes, those of all servers of the scope together. Where they are longer, the ' +
      'longest are cut.',
  )
  readonly maxBytes: number = 8_192;

  @TextList('Servers whose instructions are included.', { isPublic: true, words: ['all', 'none'] })
  readonly include: 'all' | 'none' | readonly string[] = 'all';
}
