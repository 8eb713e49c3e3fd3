import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { neverYield, template } from '../../../test/kit/resource-offers.js';
import { runAtOnce } from '../../lib/slices/run-sliced.js';
import { parseTemplates } from './resource-template.js';
import { TemplateIndex } from './template-index.js';

/** Texts of templates and URIs from few parts, so that many of them match. */
const parts = fc.array(fc.constantFrom('a', 'b/', '{x}', '{+y}', '{/z*}', '-'), { maxLength: 5 });
const templates = fc.array(
  parts.map((some) => `s:${some.join('')}`),
  { maxLength: 12 },
);
const texts = fc
  .array(fc.constantFrom('a', 'b/', '-', '{', '/', 'ä'), { maxLength: 6 })
  .map((some) => `s:${some.join('')}`);

const parse = async (...listed: readonly string[]) =>
  (await parseTemplates('srv', listed.map(template), neverYield)).templates;

describe('TemplateIndex', () => {
  it('finds the instance that comparing all templates finds', () =>
    fc.assert(
      fc.asyncProperty(templates, texts, async (listed, text) => {
        const all = await parse(...listed);
        const index = runAtOnce(TemplateIndex.build(all.toReversed()));
        for (const form of ['uri', 'id'] as const) {
          const searched = form === 'uri' ? text : `srv_${text.replace(/[^A-Za-z0-9.{-]+/g, '_')}`;
          const best = all
            .filter(({ matcher, idMatcher }) => (form === 'uri' ? matcher : idMatcher)?.match(searched))
            .toSorted((a, b) => b.matcher.literalLength - a.matcher.literalLength)[0];
          const { instance } = index.search(searched, form).run(Infinity);
          expect(instance?.template.uriTemplate).toBe(best?.uriTemplate);
        }
      }),
      { numRuns: 300 },
    ));

  it('finds a template by its own text and by its identifier', async () => {
    const all = await parse('x:{b}', 'x:{a}', 'y');
    const index = runAtOnce(TemplateIndex.build(all));
    for (const each of all) {
      expect(index.findByUri(each.uriTemplate)).toBe(each);
      expect(index.findById(each.id)).toBe(each);
    }
    expect([index.findByUri('x:'), index.findById('x:{a}')]).toEqual([undefined, undefined]);
  });

  it.each([
    ['x:a', true],
    ['x:ab', true],
    ['x:abc', false],
    ['x:ab{c', false],
    ['', true],
    ['w', false],
  ])('knows whether a template begins with %j: %s', async (prefix, expected) => {
    const index = runAtOnce(TemplateIndex.build(await parse('x:ab{c}', 'y:{z}')));
    expect(index.hasLiteralStartingWith(prefix)).toBe(expected);
  });

  it('stops at the limit of the cost', async () => {
    const index = runAtOnce(TemplateIndex.build(await parse('x:{a}', 'x:{b}/c')));
    const search = index.search('x:1', 'uri');
    expect(search.size).toBe(2);
    const { cost, instance } = search.run(Infinity);
    expect(instance?.template.uriTemplate).toBe('x:{a}');
    expect(search.run(cost).instance).toEqual(instance);
    expect(search.run(cost - 1).instance).toBeUndefined();
  });

  it('is built in steps', async () => {
    const all = await parse(...Array.from({ length: 5000 }, (_, n) => `x:${n}/{a}`));
    let count = 0;
    for (const steps = TemplateIndex.build(all); !steps.next().done; count++);
    expect(count).toBeGreaterThan(8);
  });
});
