import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { JsonDocument } from '../../lib/json-text/json-document.js';
import { JsonReader } from '../../lib/json-text/json-reader.js';
import { JsonText, membersOf } from '../../lib/json-text/json-text.js';
import type { ScannedObject } from '../../lib/json-text/scanned-object.js';
import { runAtOnce, type Steps } from '../../lib/slices/run-sliced.js';
import {
  withPublicContents,
  withPublicErrorUri,
  withPublicLinks,
  withPublicMessages,
  withPublicUi,
} from './public-uris.js';

const toPublic = (uri: string): string => `P<${uri}>`;
const unchanged = (uri: string): string => uri;

const contents = (text: string): string => runAtOnce(withPublicContents(new JsonText(text), toPublic)).text;
const links = (text: string): string => runAtOnce(withPublicLinks(new JsonText(text), toPublic)).text;
const messages = (text: string): string => runAtOnce(withPublicMessages(new JsonText(text), toPublic)).text;

/** Members that must not be changed. */
const OTHER_MEMBERS =
  '"n":1.0,"big":12345678901234567890,"esc":"\\u0041\\/\\ud83d","uri2":"x:1","deep":{"uri":"x:1","resource":{"uri":"x:1"}}';

describe('withPublicContents', () => {
  it('replaces the URIs and keeps every other byte', () => {
    expect(
      contents(
        `{ "contents" : [ {"uri":"x:1",${OTHER_MEMBERS},"text":"a \\"uri\\":\\"x:1\\""} , { "blob":"AA==","uri" : "x:\\u0032"}],"_meta":{"uri":"x:1"}}`,
      ),
    ).toBe(
      `{ "contents" : [ {"uri":"P<x:1>",${OTHER_MEMBERS},"text":"a \\"uri\\":\\"x:1\\""} , { "blob":"AA==","uri" : "P<x:2>"}],"_meta":{"uri":"x:1"}}`,
    );
  });

  it('replaces every occurrence of a duplicate key', () => {
    expect(contents('{"contents":[{"uri":"a","uri":"b"}],"contents":[{"uri":"c"}]}')).toBe(
      '{"contents":[{"uri":"P<a>","uri":"P<b>"}],"contents":[{"uri":"P<c>"}]}',
    );
  });
});

describe('withPublicErrorUri', () => {
  it.each([
    [
      `{"code":-32002,"message":"x:1","data":{"uri":"x:1",${OTHER_MEMBERS}},"uri":"x:1"}`,
      `{"code":-32002,"message":"x:1","data":{"uri":"P<x:1>",${OTHER_MEMBERS}},"uri":"x:1"}`,
    ],
    ['{"code":1,"data":"x:1"}', '{"code":1,"data":"x:1"}'],
    ['{"code":1,"data":{"uri":5}}', '{"code":1,"data":{"uri":5}}'],
    ['{"code":1}', '{"code":1}'],
  ])('replaces data.uri and keeps every other byte of %s', (error, expected) => {
    expect(runAtOnce(withPublicErrorUri(error, toPublic))).toBe(expected);
  });
});

describe('withPublicLinks', () => {
  it('replaces the URIs of resource links', () => {
    expect(
      links(`{"content":[{"type":"resource_link","uri":"x:1",${OTHER_MEMBERS}},{"type":"text","text":"x"}]}`),
    ).toBe(
      `{"content":[{"type":"resource_link","uri":"P<x:1>",${OTHER_MEMBERS}},{"type":"text","text":"x"}]}`,
    );
  });

  it('replaces the URIs of embedded resources', () => {
    expect(
      links(
        `{"content":[{"type":"resource","uri":"x:0","resource":{"uri":"x:1","text":"t",${OTHER_MEMBERS}}}]}`,
      ),
    ).toBe(
      `{"content":[{"type":"resource","uri":"x:0","resource":{"uri":"P<x:1>","text":"t",${OTHER_MEMBERS}}}]}`,
    );
  });

  it('replaces the URI of the user interface under both keys', () => {
    expect(
      links(
        '{"content":[],"_meta":{"ui":{"resourceUri":"ui://a/b","x":1.0},"ui/resourceUri":"ui://c","resourceUri":"ui://d"}}',
      ),
    ).toBe(
      '{"content":[],"_meta":{"ui":{"resourceUri":"P<ui://a/b>","x":1.0},"ui/resourceUri":"P<ui://c>","resourceUri":"ui://d"}}',
    );
  });

  it('keeps structured content and blocks of other types', () => {
    const text =
      '{"content":[{"type":"image","uri":"x:1","resource":{"uri":"x:1"}},{"type":"text","text":"resource"}],' +
      '"structuredContent":{"type":"resource_link","uri":"x:1","contents":[{"uri":"x:1"}]}}';
    expect(links(text)).toBe(text);
  });
});

describe('withPublicMessages for a prompt', () => {
  it('replaces the URIs in the block of each message', () => {
    expect(
      messages(
        '{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"x:1"}}},' +
          '{"role":"user","content":{"type":"resource_link","uri":"x:2"}}]}',
      ),
    ).toBe(
      '{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"P<x:1>"}}},' +
        '{"role":"user","content":{"type":"resource_link","uri":"P<x:2>"}}]}',
    );
  });

  it('replaces the URIs in every block of a message', () => {
    expect(
      messages('{"messages":[{"content":[{"type":"resource_link","uri":"x:1"},"x",{"type":"text"}]}]}'),
    ).toBe('{"messages":[{"content":[{"type":"resource_link","uri":"P<x:1>"},"x",{"type":"text"}]}]}');
  });
});

const samplingRequest = (uri: string): string =>
  `{"messages":[{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[` +
  `{"type":"resource_link","uri":"${uri}"},` +
  `{"type":"tool_result","content":[{"type":"resource_link","uri":"x:2"}]}]}]}]}`;

describe('withPublicMessages for a sampling request', () => {
  it('replaces the URIs in tool results, but not in results nested in those', () => {
    expect(messages(samplingRequest('x:1'))).toBe(samplingRequest('P<x:1>'));
  });
});

describe('withPublicUi', () => {
  it('replaces the URI of the user interface', () => {
    expect(withPublicUi('{"name":"t","_meta":{"ui":{"resourceUri":"ui://view"}}}', toPublic)).toBe(
      '{"name":"t","_meta":{"ui":{"resourceUri":"P<ui://view>"}}}',
    );
    expect(withPublicUi('{"_meta":{"ui/resourceUri":"x:1"}}', toPublic)).toBe(
      '{"_meta":{"ui/resourceUri":"P<x:1>"}}',
    );
  });

  it.each([
    '{"name":"t"}',
    '{"name":"resourceUri","inputSchema":{"resourceUri":"ui://x"}}',
    '{"_meta":{"ui":"resourceUri"}}',
    '{"_meta":{"ui":{"resourceUri":1}}}',
    '{"_meta":null,"resourceUri":"ui://x"}',
  ])('keeps a definition without a user interface: %s', (text) => {
    expect(withPublicUi(text, toPublic)).toBe(text);
  });
});

const ODD_RESULTS = [
  '{}',
  'null',
  '"resource"',
  '["resource"]',
  '7',
  '{"x":"resource"}',
  ...['content', 'contents', 'messages'].flatMap((member) =>
    [
      'null',
      '"resource"',
      '1',
      '{}',
      '[]',
      '[null]',
      '["resource"]',
      '[1,[],{}]',
      '[{"type":"resource"}]',
      '[{"type":"resource","resource":null}]',
      '[{"type":"resource","resource":"x:1"}]',
      '[{"type":"resource","resource":{"uri":7}}]',
      '[{"type":"resource_link","uri":null}]',
      '[{"type":"resource_link","uri":7}]',
      '[{"type":["resource"],"uri":[]}]',
      '[{"content":null,"type":"resource"}]',
      '[{"content":"resource"}]',
      '[{"content":[null,1,"x",[{"type":"resource"}]]}]',
    ].map((value) => `{"${member}":${value},"_meta":[]}`),
  ),
];

describe('public URIs in results of an unexpected shape', () => {
  it.each(ODD_RESULTS)('leave the result unchanged: %s', (text) => {
    const result = new JsonText(text);
    expect(runAtOnce(withPublicContents(result, toPublic))).toBe(result);
    expect(runAtOnce(withPublicLinks(result, toPublic))).toBe(result);
    expect(runAtOnce(withPublicMessages(result, toPublic))).toBe(result);
  });

  it('neither fail, nor break the JSON, nor change other members', () => {
    const words = fc.constantFrom(
      'content',
      'contents',
      'messages',
      'type',
      'resource',
      'resource_link',
      'uri',
      '_meta',
      'ui',
      'resourceUri',
      'ui/resourceUri',
      '\u2028"\\',
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        words,
        fc.constantFrom(null, 1, true),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(words, tie('value'), { maxKeys: 5 }),
      ),
    }));
    fc.assert(
      fc.property(value, fc.constantFrom(0, 1), (result, indent) => {
        const text = new JsonText(JSON.stringify(result, null, indent));
        expect(runAtOnce(withPublicContents(text, unchanged))).toBe(text);
        expect(runAtOnce(withPublicMessages(text, unchanged))).toBe(text);
        for (const changed of [
          runAtOnce(withPublicContents(text, toPublic)),
          runAtOnce(withPublicLinks(text, toPublic)),
          runAtOnce(withPublicMessages(text, toPublic)),
        ])
          expect(() => changed.toJSON()).not.toThrow();
      }),
      { numRuns: 300 },
    );
  });
});

describe('withPublicLinks and withPublicMessages', () => {
  it('return the same object for a result without resources', () => {
    const result = new JsonText('{"content":[{"type":"text","text":"x"}],"messages":[]}');
    expect(runAtOnce(withPublicLinks(result, toPublic))).toBe(result);
    expect(runAtOnce(withPublicMessages(result, toPublic))).toBe(result);
  });
});

/** The result as it is read from a long message. */
function scanned(text: string): ScannedObject {
  const reader = new JsonReader({ maxBytes: 2 ** 26, maxDepth: 64, maxMembers: 2_000_000 });
  const document = reader.read(Buffer.from(`{"id":1,"result":${text}}`.padEnd(40_000)));
  if (!(document instanceof JsonDocument)) throw document;
  return document.member('result') as ScannedObject;
}

/** Number of steps of a job, and its result. */
function run<Result>(steps: Steps<Result>): { readonly count: number; readonly result: Result } {
  for (let count = 0; ; count++) {
    const step = steps.next();
    if (step.done) return { count, result: step.value };
  }
}

const LONG = 'resource 漢'.repeat(200_000);
const WIDE = Object.fromEntries(Array.from({ length: 200_000 }, (_, n) => [`k${n}`, n]));
const STEP_LENGTH = 131_072;

describe('public URIs in a result of many bytes', () => {
  it.each([
    [
      'contents',
      withPublicContents,
      {
        contents: [
          { uri: 'x:ä', text: LONG },
          { uri: 'x:2', _meta: WIDE },
        ],
      },
    ],
    [
      'links',
      withPublicLinks,
      {
        content: [
          { type: 'text', text: LONG },
          { type: 'resource_link', uri: 'x:ä' },
        ],
      },
    ],
    ['the user interface', withPublicLinks, { content: [], _meta: { ...WIDE, ui: { resourceUri: 'x:ä' } } }],
    ['a wide block', withPublicLinks, { content: [{ ...WIDE, type: 'resource_link', uri: 'x:ä' }] }],
    [
      'messages',
      withPublicMessages,
      { messages: [{ content: { type: 'resource', resource: { uri: 'x:ä', text: LONG } } }] },
    ],
  ] as const)('replaces those of %s in steps, and decodes only them', (_what, rewrite, value) => {
    const text = JSON.stringify(value);
    const result = scanned(text);
    Object.defineProperty(result, 'text', {
      get: () => {
        throw new Error('decoded');
      },
    });
    const changed = run(rewrite(result, toPublic));
    expect(changed.result.text === runAtOnce(rewrite(new JsonText(text), toPublic)).text).toBe(true);
    expect(changed.result.text).toContain('P<x:ä>');
    // At least one step for each part of the text that is searched member by member.
    const searched = text.length - LONG.length * Number(text.includes(LONG));
    expect(changed.count).toBeGreaterThan(searched / STEP_LENGTH);
  });

  it('are the same whether the text or its bytes are changed', () => {
    const words = fc.constantFrom(
      'type',
      'resource',
      'resource_link',
      'uri',
      '_meta',
      'ui',
      'content',
      'text',
      'ä漢',
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        words,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(words, tie('value'), { maxKeys: 5 }),
      ),
    }));
    fc.assert(
      fc.property(fc.array(value), fc.constantFrom(0, 1), (list, indent) => {
        const text = JSON.stringify(
          { ä: 1, content: list, contents: list, messages: list, é: [] },
          null,
          indent,
        );
        for (const rewrite of [withPublicContents, withPublicLinks, withPublicMessages]) {
          const changed = runAtOnce(rewrite(scanned(text), toPublic));
          expect(changed.text).toBe(runAtOnce(rewrite(new JsonText(text), toPublic)).text);
          expect(changed.members).toEqual(membersOf(changed.text));
        }
      }),
      { numRuns: 100 },
    );
  });

  it('keep a URI that is too long to be requested', () => {
    const text = JSON.stringify({
      contents: [{ uri: `x:${'a'.repeat(8191)}` }, { uri: 'x'.repeat(1_000_000) }],
    });
    expect(contents(text)).toBe(text);
  });
});

describe('withPublicLinks on a long result', () => {
  const blocks = Array.from({ length: 5000 }, (_, n) => ({
    type: 'resource_link',
    uri: `x:${n}`,
    name: 'é',
  }));
  const text = JSON.stringify({ _meta: { ui: { resourceUri: 'ui://a' } }, content: blocks, isError: true });

  it('yields between blocks', () => {
    let steps = 0;
    for (const job = withPublicLinks(new JsonText(text), toPublic); !job.next().done;) steps++;
    expect(steps).toBeGreaterThan(blocks.length);
  });

  it('keeps the positions of the members', () => {
    const result = runAtOnce(withPublicLinks(new JsonText(text), toPublic));
    expect(result.isIndexed).toBe(true);
    expect(result.members).toEqual(membersOf(result.text));
    expect(result.memberText('isError')).toBe('true');
  });
});
