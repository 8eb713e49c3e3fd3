import { describe, expect, it, jest } from '@jest/globals';
import { neverYield, template } from '../../../test/kit/resource-offers.js';
import { runAtOnce } from '../../lib/slices/run-sliced.js';
import { UriTemplate } from '../../lib/uri-template/uri-template.js';
import { parseTemplates, type ResourceTemplate } from './resource-template.js';
import { TemplateIndex } from './template-index.js';
import { bestInstances } from './template-matches.js';

const templatesOf = async (server: string, ...uriTemplates: string[]): Promise<readonly ResourceTemplate[]> =>
  (await parseTemplates(server, uriTemplates.map(template), neverYield)).templates;

const indexesOf = (
  templates: readonly ResourceTemplate[],
  onLimit?: (server: string) => void,
): TemplateIndex[] =>
  [...new Set(templates.map(({ server }) => server))].map((each) => {
    const ofServer = templates.filter(({ server }) => server === each);
    return runAtOnce(TemplateIndex.build(ofServer, () => onLimit?.(each)));
  });

const best = (templates: readonly ResourceTemplate[], text: string, form: 'uri' | 'id' = 'uri'): string[] =>
  bestInstances(indexesOf(templates), text, form).map(({ template: { server, uriTemplate }, uri }) =>
    [server, uriTemplate, uri].join(' '),
  );

describe('bestInstances', () => {
  it('are those of the template with the most literal characters, in any order', async () => {
    const templates = await templatesOf('a', '{+any}', 'x:{y}', 'x:{y}/z');
    for (const given of [templates, templates.toReversed()]) {
      expect(best(given, 'x:1/z')).toEqual(['a x:{y}/z x:1/z']);
      expect(best(given, 'x:1')).toEqual(['a x:{y} x:1']);
      expect(best(given, 'other')).toEqual(['a {+any} other']);
    }
  });

  it('are several where servers tie, one of each server', async () => {
    const templates = [
      ...(await templatesOf('a', 'x:{y}', 'x:{z}')),
      ...(await templatesOf('b', 'x:{y}', '{+any}')),
    ];
    expect(best(templates, 'x:1')).toEqual(['a x:{y} x:1', 'b x:{y} x:1']);
    expect(best([...templates, ...(await templatesOf('c', 'x:1{y}'))], 'x:12')).toEqual(['c x:1{y} x:12']);
  });

  it('are none for a text that matches no template, and for the empty text', async () => {
    const templates = await templatesOf('a', 'x:{y}', 'x:{+z}');
    for (const text of ['', 'y:1', 'x']) expect(best(templates, text)).toEqual([]);
    expect(best(await templatesOf('a', '{+any}'), '')).toEqual([]);
  });

  it('have the own URI when the text is an identifier', async () => {
    const templates = await templatesOf('db', 'mcp://db/{table}/{id}', 'mcp://other');
    expect(best(templates, 'db_mcp___db_users_5', 'id')).toEqual([
      'db mcp://db/{table}/{id} mcp://db/users/5',
    ]);
    expect(best(templates, 'mcp://db/users/5', 'id')).toEqual([]);
  });

  it('are found among ten thousand templates without trying the others', async () => {
    const many = await templatesOf('a', ...Array.from({ length: 10_000 }, (_, n) => `y${n}://{a}/{b}`));
    const indexes = indexesOf(many);
    const match = jest.spyOn(UriTemplate.prototype, 'match');
    const text = `y7777://${'a'.repeat(8000)}/b`;
    expect(bestInstances(indexes, text, 'uri').map(({ template: { uriTemplate } }) => uriTemplate)).toEqual([
      'y7777://{a}/{b}',
    ]);
    expect(match).toHaveBeenCalledTimes(1);
    match.mockRestore();
  });

  it('are found among ten thousand templates that begin and end alike', async () => {
    const many = await templatesOf('a', ...Array.from({ length: 10_000 }, (_, n) => `x://{a}/n${n}/{b}`));
    const match = jest.spyOn(UriTemplate.prototype, 'match');
    expect(best(many, 'x://tenant/n7777/some-report-of-the-year-2026')).toEqual([
      'a x://{a}/n7777/{b} x://tenant/n7777/some-report-of-the-year-2026',
    ]);
    expect(match.mock.calls.length).toBeLessThan(10);
    match.mockRestore();
  });

  it('are found for a long text that any of ten thousand templates matches', async () => {
    const many = await templatesOf('a', ...Array.from({ length: 10_000 }, (_, n) => `x://{?a*,b${n}*}`));
    expect(best(many, `x://?${'a=b&'.repeat(2000)}`)).toHaveLength(1);
  });

  it('are searched within one limit for all servers', async () => {
    const servers = Array.from({ length: 20 }, (_, n) => `s${n}`);
    const hostile = await Promise.all(
      servers.map((server) =>
        templatesOf(server, ...Array.from({ length: 500 }, (_, n) => `x://{a}{b}{c${n}}/end`)),
      ),
    );
    const few = await templatesOf('b', 'x://{+any}/end', 'x://{+any}');
    const indexes = indexesOf([...hostile.flat(), ...few]);
    const match = jest.spyOn(UriTemplate.prototype, 'match');
    const text = `x://${'a/'.repeat(4000)}end`;
    expect(bestInstances(indexes, text, 'uri').map(({ template: { server } }) => server)).toEqual(['b']);
    const { calls, contexts } = match.mock;
    const characters = calls.reduce(
      (sum, [uri], call) => sum + uri.length * ((contexts[call] as UriTemplate).expressions.length + 1),
      0,
    );
    expect(characters).toBeLessThanOrEqual(2 ** 18 + 2 ** 15);
    expect(characters).toBeGreaterThan(0);
    match.mockRestore();
  });

  it('are none of a server beyond the work limit, and are found for others', async () => {
    const many = await templatesOf('a', ...Array.from({ length: 400 }, (_, n) => `x:{a}{b}{c${n}}`));
    const templates = [...many, ...(await templatesOf('b', 'x:{+d}'))];
    expect(best(templates, 'x:1/2')).toEqual(['b x:{+d} x:1/2']);
    const long = `x:1/${'2'.repeat(8000)}`;
    expect(best(templates, long)).toEqual([`b x:{+d} ${long}`]);
    expect(best([...(await templatesOf('a', '{+any}')), ...many], long)).toEqual([]);
  });

  it('report every server whose templates were not all examined', async () => {
    const serversWithMany = Array.from({ length: 20 }, (_, n) => `s${n}`);
    const hostile = await Promise.all(
      serversWithMany.map((server) =>
        templatesOf(server, ...Array.from({ length: 500 }, (_, n) => `x://{a}{b}{c${n}}/end`)),
      ),
    );
    const few = await templatesOf('b', 'x://{+any}/end');
    const unfinished: string[] = [];
    const indexes = indexesOf([...hostile.flat(), ...few], (server) => void unfinished.push(server));
    bestInstances(indexes, 'x://1', 'uri');
    expect(unfinished).toEqual([]);
    bestInstances(indexes, `x://${'a/'.repeat(4000)}end`, 'uri');
    expect(unfinished.toSorted()).toEqual(serversWithMany.toSorted());
  });
});
