import { describe, expect, it } from '@jest/globals';
import { TuiModelHarness, resource } from '../../../test/kit/tui-model.js';
import { textWidth } from '../../client/terminal-text.js';
import { placeColumns, rowLine, headerLine } from './columns.js';
import { listRow } from './list-row.js';
import { highlighterFor } from './highlight.js';

const { model } = new TuiModelHarness({});
const HOSTILE = '\x1b[2J\x1b[1;1H\u202etxt.exe\r\n\x07世界';

describe('columns of a list', () => {
  it.each([
    'servers',
    'tools',
    'disabled-tools',
    'prompts',
    'resources',
    'resource-templates',
    'subscriptions',
    'sessions',
  ] as const)('of %s fill exactly any width', (list) => {
    for (let width = 28; width <= 200; width++)
      expect(textWidth(headerLine(placeColumns(list, width)))).toBe(width);
  });

  it('highlight matches of a search', () => {
    const line = rowLine(
      listRow('resources', resource('app.log')),
      placeColumns('resources', 78),
      highlighterFor('resources', 'LOG'),
      model,
    );
    expect(line.filter(({ style }) => style === 'match').map(({ text }) => text)).toEqual(['log', 'log']);
  });

  it('highlight the whole row if the match is not shown', () => {
    const item = resource('a.txt', { definition: { name: 'a.txt', description: 'the newest' } });
    const styles = (query: string) =>
      rowLine(
        listRow('resources', item),
        placeColumns('resources', 78),
        highlighterFor('resources', query),
        model,
      )
        .filter(({ text }) => text.includes('a.txt'))
        .map(({ style }) => style);
    expect(styles('')).toEqual(['plain', 'plain']);
    expect(styles('newest')).toEqual(['accent', 'plain']);
  });

  it('contain no control character of hostile texts', () => {
    const item = resource('x', { uri: HOSTILE, definition: { name: HOSTILE, mimeType: HOSTILE, size: 1e9 } });
    for (let width = 28; width <= 200; width++) {
      const line = rowLine(
        listRow('resources', item),
        placeColumns('resources', width),
        highlighterFor('tools', 'x1b'),
        model,
      );
      const text = line.map((span) => span.text).join('');
      expect(textWidth(text)).toBe(width);
      // oxlint-disable-next-line no-control-regex -- the test is about control characters
      expect(text).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202e]/);
    }
  });
});
