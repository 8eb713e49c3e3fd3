import { describe, expect, it } from '@jest/globals';
import { JsonText } from '../../lib/json-text/json-text.js';
import { withPublicInput } from './public-input.js';

const toPublic = ({ text }: JsonText): JsonText => new JsonText(text.replaceAll('own:', 'public:'));
const rewrite = async (text: string): Promise<string> =>
  (await withPublicInput(new JsonText(text), toPublic)).text;

describe('withPublicInput', () => {
  it('changes the params of each input request, and nothing else', async () => {
    const text =
      '{ "resultType":"input_required","inputRequests":{ "own:key":{"method":"own:m","params":{"uri":"own:1"}},' +
      '"b":{"params": {"n":1.0,"uri":"own:2"} }},"requestState":"own:\\u2028"}';
    expect(await rewrite(text)).toBe(
      text.replace('"uri":"own:1"', '"uri":"public:1"').replace('"uri":"own:2"', '"uri":"public:2"'),
    );
  });

  it.each([
    '{"resultType":"input_required","requestState":"own:"}',
    '{"inputRequests":[]}',
    '{"inputRequests":{"a":7,"b":{"params":"own:"},"c":{}}}',
  ])('leaves %s as it is', async (text) => {
    expect(await rewrite(text)).toBe(text);
  });
});
