import { describe, expect, it } from '@jest/globals';
import { ModelStage, resource } from '../../../test/kit/tui-model.js';
import { widthOf } from '../../client/text-width.js';
import { columnsOf, entryLine, headLine } from './columns.js';
import { entryOf } from './entry.js';
import { marking } from './marking.js';

const { model } = new ModelStage({});
const HOSTILE = '\x1b[2J\x1b[1;1H\u202etxt.exe\r\n\x07世界';

describe('the columns of a list', () => {
  it.each([
    'servers',
    'tools',
    'off-tools',
    'prompts',
    'resources',
    'resource-templates',
    'subscriptions',
  ] as const)('of %s fill it exactly, whatever its width', (list) => {
    for (let width = 28; width <= 200; width++) expect(widthOf(headLine(columnsOf(list, width)))).toBe(width);
  });

  it('mark what was looked for', () => {
    const line = entryLine(
      entryOf('resources', resource('app.log')),
      columnsOf('resources', 78),
      marking('resources', 'LOG'),
      model,
    );
    expect(line.filter(({ look }) => look === 'match').map(({ text }) => text)).toEqual(['log', 'log']);
  });

  it('make a row stand out that was found by what it has no room for', () => {
    const item = resource('a.txt', { definition: { name: 'a.txt', description: 'the newest' } });
    const looks = (query: string) =>
      entryLine(entryOf('resources', item), columnsOf('resources', 78), marking('resources', query), model)
        .filter(({ text }) => text.includes('a.txt'))
        .map(({ look }) => look);
    expect(looks('')).toEqual(['plain', 'plain']);
    expect(looks('newest')).toEqual(['accent', 'plain']);
  });

  it('hold a row whose texts are hostile, without a character that a terminal obeys', () => {
    const item = resource('x', { uri: HOSTILE, definition: { name: HOSTILE, mimeType: HOSTILE, size: 1e9 } });
    for (let width = 28; width <= 200; width++) {
      const line = entryLine(
        entryOf('resources', item),
        columnsOf('resources', width),
        marking('tools', 'x1b'),
        model,
      );
      const text = line.map((span) => span.text).join('');
      expect(widthOf(text)).toBe(width);
      // oxlint-disable-next-line no-control-regex -- these are what it is about
      expect(text).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202e]/);
    }
  });
});
