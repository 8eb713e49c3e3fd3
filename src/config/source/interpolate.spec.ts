import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { interpolate } from './interpolate.js';

const ENV = { TOKEN: 's3cret', EMPTY: '', NESTED: '${TOKEN}', DOLLARS: '$& $1 $$' };

describe('interpolate', () => {
  it.each([
    ['a variable', '${TOKEN}', 's3cret'],
    ['a variable within a text', 'Bearer ${TOKEN}!', 'Bearer s3cret!'],
    ['several variables', '${TOKEN}/${TOKEN}', 's3cret/s3cret'],
    ['the default of an unset variable', '${HOST:-localhost}', 'localhost'],
    ['the default of an empty variable', '${EMPTY:-x}', 'x'],
    ['an empty default', 'a${HOST:-}b', 'ab'],
    ['a default with colons and dashes', '${URL:-http://a:-1}', 'http://a:-1'],
    ['no default where the variable is set', '${TOKEN:-x}', 's3cret'],
    ['an empty variable as nothing', '<${EMPTY}>', '<>'],
    ['an escaped reference as plain text', '$${TOKEN}', '${TOKEN}'],
    ['a reference beside an escaped one', '$${TOKEN} ${TOKEN}', '${TOKEN} s3cret'],
    ['a dollar before an escape', '$$${TOKEN}', '$${TOKEN}'],
    ['a value that contains a reference unchanged', '${NESTED}', '${TOKEN}'],
    ['a value with replacement patterns unchanged', '${DOLLARS}', '$& $1 $$'],
    ['other dollar signs unchanged', 'cost $5 $TOKEN', 'cost $5 $TOKEN'],
  ])('inserts %s', (_what, text, result) => {
    expect(interpolate(text, ENV)).toMatchObject({ text: result, problems: [] });
  });

  it.each(['UNSET_VARIABLE', 'constructor', '__proto__', 'toString'])(
    'refuses ${%s}, which is not set',
    (name) => {
      const { problems } = interpolate(`\${${name}}`, ENV);
      expect(problems).toEqual([`the environment variable ${name} is not set`]);
    },
  );

  it.each(['${}', '${env:TOKEN}', '${TOKEN', '${1A}', '${TOKEN-x}', '${A:-${TOKEN}}', '${ TOKEN }'])(
    'refuses %s, which is not a valid reference',
    (text) => {
      expect(interpolate(text, ENV).problems).toEqual([
        expect.stringContaining('is neither ${NAME} nor ${NAME:-default}'),
      ]);
    },
  );

  it.each(['${env:TOKEN}', '${input:token}', '${workspaceFolder}', '${userHome}', '${/}'])(
    'names gatehouse config import for the variable %s of an editor',
    (text) => {
      const { problems } = interpolate(text, ENV);
      expect(problems).toEqual([expect.stringContaining('converted by `gatehouse config import`')]);
    },
  );

  it('returns the inserted variables, without those replaced by a default', () => {
    expect(interpolate('${TOKEN} ${EMPTY:-x} $${NESTED}', ENV).used).toEqual(['TOKEN']);
  });

  it('returns any escaped text unchanged', () => {
    const pieces = fc.constantFrom('$', '{', '}', '${', '$${', ':-', 'TOKEN', 'x');
    const texts = fc.oneof(
      fc.string(),
      fc.array(pieces).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const escaped = text.replaceAll('${', () => '$${');
        expect(interpolate(escaped, ENV)).toEqual({ text, used: [], problems: [] });
      }),
    );
  });

  it('does not interpolate inserted values', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        expect(interpolate('<${V}>', { V: value }).text).toBe(`<${value}>`);
      }),
    );
  });
});
