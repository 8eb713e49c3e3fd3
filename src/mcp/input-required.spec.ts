import { describe, expect, it } from '@jest/globals';
import { RemoteError } from '../core/errors.js';
import { JsonText } from '../lib/json-text/json-text.js';
import { inputRequired, inputResponsesIn, unknownState, urlsRequired } from './input-required.js';

describe('inputRequired', () => {
  it('contains questions and state', () => {
    const question = { method: 'sampling/createMessage', params: new JsonText('{"maxTokens":1.0}') };
    expect(inputRequired([['q1', question]], 'state').text).toBe(
      '{"resultType":"input_required","inputRequests":{"q1":{"method":"sampling/createMessage",' +
        '"params":{"maxTokens":1.0}}},"requestState":"state"}',
    );
  });

  it('leaves out params and state that do not exist', () => {
    expect(inputRequired([['q1', { method: 'roots/list', params: undefined }]]).text).toBe(
      '{"resultType":"input_required","inputRequests":{"q1":{"method":"roots/list"}}}',
    );
  });

  it.each([
    ['an elicitation by URL', '{"mode":"url","elicitationId":"e","url":"u"}', { mode: 'url', url: 'u' }],
    ['a form', '{"mode":"form","elicitationId":"e"}', { mode: 'form', elicitationId: 'e' }],
    ['a question with progress', '{"_meta":{"progressToken":1,"k":2}}', { _meta: { k: 2 } }],
    ['strange metadata', '{"_meta":[{"progressToken":1}]}', { _meta: [{ progressToken: 1 }] }],
  ])('leaves out what clients of 2026 do not know: %s', (_, params, expected) => {
    const { text } = inputRequired([['q', { method: 'elicitation/create', params: new JsonText(params) }]]);
    expect(JSON.parse(text)).toMatchObject({ inputRequests: { q: { params: expected } } });
    expect((JSON.parse(text) as { inputRequests: { q: { params: object } } }).inputRequests.q.params).toEqual(
      expected,
    );
  });
});

describe('inputResponsesIn', () => {
  it.each([
    ['{"inputResponses":{"q1":{"a":1.0},"q2":"no","q3":null}}', [['q1', '{"a":1.0}']]],
    ['{"inputResponses":[]}', []],
    ['{"inputResponses":null}', []],
    ['{}', []],
    [undefined, []],
  ])('finds the objects in %s', (params, expected) => {
    expect([...inputResponsesIn(params)]).toEqual(expected);
  });
});

const error = (data: unknown, code = -32042): RemoteError =>
  new RemoteError(code, 'm', JSON.stringify({ code, message: 'm', data }));

describe('urlsRequired', () => {
  it('asks the client to open each URL', () => {
    const elicitations = [
      { mode: 'url', elicitationId: '1', url: 'https://a', message: 'A' },
      { mode: 'url', elicitationId: '2', url: 'https://b', message: 'B' },
    ];
    expect(urlsRequired(error({ elicitations }))?.value).toEqual({
      resultType: 'input_required',
      inputRequests: {
        url1: { method: 'elicitation/create', params: { mode: 'url', url: 'https://a', message: 'A' } },
        url2: { method: 'elicitation/create', params: { mode: 'url', url: 'https://b', message: 'B' } },
      },
    });
  });

  it.each([
    ['another code', error({ elicitations: [{ mode: 'url', url: 'u' }] }, -32041)],
    ['no data', error(undefined)],
    ['no URLs', error({ elicitations: [] })],
    ['a form', error({ elicitations: [{ mode: 'form' }] })],
    ['an invalid list', error({ elicitations: {} })],
    ['data that is no object', error('x')],
  ])('is undefined for %s', (_, remote) => {
    expect(urlsRequired(remote)).toBeUndefined();
  });
});

describe('unknownState', () => {
  it.each([
    ['gatehouse.abc.def', 'another process'],
    ['opaque', 'neither this gateway nor the server'],
    [7, 'neither this gateway nor the server'],
  ])('says of %s that it is of %s', (state, message) => {
    expect(unknownState(state)).toMatchObject({
      kind: 'invalid-params',
      message: expect.stringContaining(message),
    });
  });
});
