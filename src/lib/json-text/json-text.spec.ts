import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { JsonDocument } from './json-document.js';
import {
  JsonText,
  elementsOf,
  indexedMember,
  mapMember,
  memberText,
  membersOf,
  detachedCopy,
  withoutMembers,
  onOneLine,
  withMember,
} from './json-text.js';

/** One member as it is written: every part is text. */
interface WrittenMember {
  readonly before: string;
  readonly key: string;
  readonly colon: string;
  readonly value: string;
  readonly after: string;
}

interface WrittenObject {
  readonly lead: string;
  readonly members: readonly WrittenMember[];
  readonly tail: string;
}

const written = ({ lead, members, tail }: WrittenObject): string =>
  `${lead}{${members.map((m) => m.before + m.key + m.colon + m.value + m.after).join(',')}}${tail}`;

const keyOf = (member: WrittenMember): string => JSON.parse(member.key) as string;

const space = fc.string({ unit: fc.constantFrom(' ', '\n', '\r', '\t'), maxLength: 2 });

const stringText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }).map((plain) => JSON.stringify(plain).slice(1, -1)),
      fc.constantFrom('\\"', '\\\\', '\\/', '\\b', '\\n', '{', '}', '[', ']', ',', ':', '\u2028'),
      fc.nat(0xffff).map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`),
    ),
    { maxLength: 6 },
  )
  .map((parts) => `"${parts.join('')}"`);

const scalarText = fc.oneof(
  stringText,
  fc.constantFrom('true', 'false', 'null', '0', '-0', '1.0', '1e400', '-1.50E-7', '12345678901234567890123'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
);

/** Few keys, in several spellings, so that many are repeated. */
const keyText = fc.oneof(
  fc.constantFrom('"a"', '"\\u0061"', '"__proto__"', '""', '"a\\"b"', '"\\\\"', '"constructor"'),
  stringText,
);

const { object, array } = fc.letrec<{ value: string; array: string[]; object: WrittenObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'json' },
    scalarText,
    tie('array').map((elements) => `[${elements.join(',')}]`),
    tie('object').map(written),
  ),
  array: fc.array(
    fc.tuple(space, tie('value'), space).map((parts) => parts.join('')),
    { maxLength: 4, depthIdentifier: 'json' },
  ),
  object: fc.record({
    lead: space,
    members: fc.array(
      fc.record({
        before: space,
        key: keyText,
        colon: fc.tuple(space, space).map(([left, right]) => `${left}:${right}`),
        value: tie('value').map((text) => text.trim()),
        after: space,
      }),
      { maxLength: 5, depthIdentifier: 'json' },
    ),
    tail: space,
  }),
}));

const someKey = fc.oneof(fc.constantFrom('a', '__proto__', '', 'a"b', '\\', 'new'), fc.string());

const cut = (text: string, { start, end }: { start: number; end: number }): string => text.slice(start, end);

/** An array inside an object inside an array …, 100,000 deep, with a bracket in a string at the bottom. */
const DEEP = `${'[{"d":'.repeat(50_000)}"]}"${'}]'.repeat(50_000)}`;

const memberOfDocument = (text: string): JsonText => JsonDocument.of(`{"a":${text}}`).member('a')!;

describe('a member of a short document', () => {
  it('is parsed, so that it knows its own members exactly', () => {
    const json = memberOfDocument('{"x":{"y":1},"\\u007a":"y"}');
    expect(json.isParsed).toBe(true);
    expect(['x', 'y', 'z'].map((key) => json.mayHaveMember(key))).toEqual([true, false, true]);
  });

  it.each(['null', '1', '"x"'])('is not a parsed object if it is %s', (text) => {
    expect(memberOfDocument(text).isParsed).toBe(false);
  });
});

describe('membersOf', () => {
  it('returns the positions of all members in order, duplicates included', () => {
    fc.assert(
      fc.property(object, fc.string(), (source, prefix) => {
        const text = prefix + written(source);
        const members = membersOf(text, prefix.length);
        expect(members.map((member) => [member.key, cut(text, member)])).toEqual(
          source.members.map((member) => [keyOf(member), member.value]),
        );
      }),
      { numRuns: 400 },
    );
  });

  it('reads the output of JSON.stringify with any indent', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(4), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        const read = membersOf(text).map((member) => [member.key, JSON.parse(cut(text, member))]);
        expect(read).toEqual(Object.entries(JSON.parse(text) as object));
      }),
    );
  });

  it.each(['[]', '["a"]', 'null', '1', '"{"', ''])('throws on %j, which is not an object', (text) => {
    expect(() => membersOf(text)).toThrow(TypeError);
  });
});

describe('elementsOf', () => {
  it('returns the positions of all elements', () => {
    fc.assert(
      fc.property(array, space, fc.string(), (elements, inner, prefix) => {
        const text = `${prefix}[${elements.length > 0 ? elements.join(',') : inner}]`;
        const read = [...elementsOf(text, prefix.length)].map((element) => cut(text, element));
        expect(read).toEqual(elements.map((element) => element.trim()));
      }),
      { numRuns: 300 },
    );
  });

  it.each(['{}', '{"a":[]}', 'null', '1', '"["', ''])('throws on %j, which is not an array', (text) => {
    expect(() => [...elementsOf(text)]).toThrow(TypeError);
  });
});

describe('memberText', () => {
  it('returns the text of the value that JSON.parse takes', () => {
    fc.assert(
      fc.property(object, someKey, (source, key) => {
        const text = written(source);
        const value = memberText(text, key);
        expect(value).toBe(source.members.findLast((member) => keyOf(member) === key)?.value);
        const parsed = Object.getOwnPropertyDescriptor(JSON.parse(text), key)?.value as unknown;
        expect(value && JSON.stringify(JSON.parse(value))).toBe(JSON.stringify(parsed));
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    ['{"n":12345678901234567890}', 'n', '12345678901234567890'],
    ['{"n":1.0 }', 'n', '1.0'],
    ['{"n":1e400}', 'n', '1e400'],
    ['{"a":1,"\\u0061":2}', 'a', '2'],
    ['{"__proto__":{"x":1}}', '__proto__', '{"x":1}'],
    ['{"s":"\\\\"}', 's', '"\\\\"'],
    ['{"s":"\\\\\\"}"}', 's', '"\\\\\\"}"'],
    ['{ }', 'toString', undefined],
  ])('of %s for key %s returns %s', (text, key, value) => {
    expect(memberText(text, key)).toBe(value);
  });
});

describe('indexedMember', () => {
  it('returns the same text as memberText, with the members of an object', () => {
    fc.assert(
      fc.property(object, object, someKey, (source, inner, key) => {
        const value = written(inner);
        const members = source.members.map((member) =>
          keyOf(member) === key ? { ...member, value } : member,
        );
        for (const text of [written(source), written({ ...source, members })]) {
          const member = indexedMember(text, key);
          expect(member?.text).toBe(memberText(text, key));
          const isObject = member?.isObject ?? false;
          expect(member?.isIndexed ?? false).toBe(isObject);
          expect(isObject && member?.members).toEqual(isObject && membersOf(member!.text));
        }
      }),
    );
  });
});

describe('mapMember', () => {
  it('changes all members with the key, and no other byte', () => {
    fc.assert(
      fc.property(object, someKey, (source, key) => {
        const members = source.members.map((member) =>
          keyOf(member) === key ? { ...member, value: `[${member.value}]` } : member,
        );
        const changed = mapMember(written(source), key, (value) => `[${value}]`);
        expect(changed).toBe(written({ ...source, members }));
      }),
      { numRuns: 400 },
    );
  });

  it('inserts the replacement literally', () => {
    expect(mapMember('{"a":1}', 'a', () => `"$&$1$'"`)).toBe(`{"a":"$&$1$'"}`);
  });
});

describe('withMember', () => {
  it('replaces the member or appends it, and changes nothing else', () => {
    fc.assert(
      fc.property(object, someKey, scalarText, (source, key, value) => {
        const found = source.members.some((member) => keyOf(member) === key);
        const replaced = source.members.map((member) =>
          keyOf(member) === key ? { ...member, value } : member,
        );
        const added = { before: '', key: JSON.stringify(key), colon: ':', value, after: '' };
        const members = found ? replaced : [...source.members, added];
        expect(withMember(written(source), key, value)).toBe(written({ ...source, members }));
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    ['{}', '{"k":1}'],
    [' { } ', ' { "k":1} '],
    ['{"a":"{"}', '{"a":"{","k":1}'],
    ['{"a":{}\n}\n', '{"a":{}\n,"k":1}\n'],
  ])('turns %j into %j', (text, result) => {
    expect(withMember(text, 'k', '1')).toBe(result);
  });
});

describe('membersOf with hostile input', () => {
  it('needs no stack for deep nesting', () => {
    const text = `{"deep":${DEEP},"last":1}`;
    expect(memberText(text, 'deep')).toBe(DEEP);
    expect(withMember(text, 'last', '2')).toBe(`{"deep":${DEEP},"last":2}`);
    expect([...elementsOf(DEEP)]).toEqual([{ start: 1, end: DEEP.length - 1 }]);
  });

  it('takes linear time for long runs of backslashes and quotes', () => {
    const value = `"${'\\\\'.repeat(500_000)}${'\\"'.repeat(500_000)}"`;
    expect(memberText(`{"a":${value}}`, 'a')).toBe(value);
  });
});

describe('onOneLine', () => {
  it('removes line breaks and keeps the value', () => {
    fc.assert(
      fc.property(object, (source) => {
        const line = onOneLine(written(source));
        expect(line).not.toMatch(/[\r\n]/);
        expect(JSON.stringify(JSON.parse(line))).toBe(JSON.stringify(JSON.parse(written(source))));
      }),
    );
  });
});

describe('JsonText', () => {
  it('is serialised as its value inside a larger value', () => {
    expect(JSON.stringify({ result: new JsonText('{ "a" : 1.0 }') })).toBe('{"result":{"a":1}}');
    expect(JsonText.of({ a: [1] }).text).toBe('{"a":[1]}');
  });
});

describe('withoutMembers', () => {
  it.each([
    ['{ "a" : 1.0 , "b":2, "\\u0061":3,"c": [ 1 ] }', '{"b":2,"c": [ 1 ]}'],
    ['{"a":1}', '{}'],
    ['{"b":{"a":1}}', '{"b":{"a":1}}'],
  ])('of %s returns %s', (text, expected) => {
    expect(withoutMembers(text, new Set(['a', 'x']))).toBe(expected);
  });
});

describe('detachedCopy', () => {
  it.each(['', 'plain', '"\\', '\u0000é😀', '\ud800 half'])('has the same characters: %j', (text) => {
    expect(detachedCopy(text)).toBe(text);
  });
});
