import { describe, expect, it } from '@jest/globals';
import { JsonText } from '../lib/json-text/json-text.js';
import { paramHeaders, paramHeadersOf, requireParamHeaders } from './param-headers.js';

const region = { type: 'string', 'x-mcp-header': 'Region' };
const found = (inputSchema: unknown): unknown => paramHeadersOf(JSON.stringify({ inputSchema }), inputSchema);
const withProperties = (properties: object, more: object = {}): object => ({
  type: 'object',
  properties,
  ...more,
});

describe('paramHeadersOf', () => {
  it.each([undefined, {}, withProperties({ a: { type: 'string' } }), true])('finds none in %j', (schema) => {
    expect(found(schema)).toEqual([]);
  });

  it('finds properties at any depth', () => {
    const schema = withProperties({
      region,
      order: withProperties({ id: { type: 'integer', 'x-mcp-header': 'Order-Id' } }),
      dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
    });
    expect(found(schema)).toEqual([
      { name: 'Region', path: ['region'] },
      { name: 'Order-Id', path: ['order', 'id'] },
      { name: 'Dry', path: ['dry'] },
    ]);
  });

  it.each([
    [{ ...region, type: 'object' }],
    [withProperties({ a: { ...region, type: 'number' } })],
    [withProperties({ a: { 'x-mcp-header': 'Region' } })],
    [withProperties({ a: { ...region, 'x-mcp-header': '' } })],
    [withProperties({ a: { ...region, 'x-mcp-header': 1 } })],
    [withProperties({ a: { ...region, 'x-mcp-header': 'a b' } })],
    [withProperties({ a: { ...region, 'x-mcp-header': 'a\r\nb: c' } })],
    [withProperties({ a: region, b: { ...region, 'x-mcp-header': 'REGION' } })],
    [withProperties({ a: { type: 'array', items: region } })],
    [withProperties({}, { oneOf: [withProperties({ a: region })] })],
    [withProperties({}, { additionalProperties: region })],
    [withProperties({}, { $defs: { a: region } })],
    [withProperties({}, { $defs: { a: withProperties({ b: region }) } })],
    [withProperties({}, { if: { properties: { a: region } } })],
  ])('refuses %j', (schema) => {
    expect(found(schema)).toBeUndefined();
  });
});

describe('paramHeaders', () => {
  const headers = [{ name: 'Region', path: ['order', 'region'] }];
  const linesFor = (args: string): string => paramHeaders(headers, new JsonText(args).value);

  it.each([
    ['"eu"', 'eu'],
    ['42', '42'],
    ['4.2e1', '42'],
    ['42.0', '42'],
    ['-0.5', '-0.5'],
    ['true', 'true'],
    ['" eu"', '=?base64?IGV1?='],
    ['"a\\r\\nx: y"', '=?base64?YQ0KeDogeQ==?='],
    ['""', '=?base64??='],
  ])('sends %s as %s', (value, expected) => {
    expect(linesFor(`{"order":{"region":${value}}}`)).toBe(`mcp-param-Region: ${expected}\r\n`);
  });

  it.each([
    'null',
    '{}',
    '{"order":null}',
    '{"order":{"region":null}}',
    '{"order":{"region":{}}}',
    '{"order":{"region":9007199254740993}}',
    '{"order":"region"}',
  ])('sends nothing for %s', (args) => {
    expect(linesFor(args)).toBe('');
  });

  it('reads no inherited member', () => {
    expect(paramHeaders([{ name: 'A', path: ['constructor', 'name'] }], {})).toBe('');
  });

  it('reads members of long arguments', () => {
    const args = JSON.stringify({ text: 'x'.repeat(100_000), order: { region: 'eu' } });
    expect(linesFor(args)).toBe('mcp-param-Region: eu\r\n');
  });
});

const withRegion = (value: unknown): object => ({ order: { region: value } });

describe('requireParamHeaders', () => {
  const declared = [{ name: 'Region', path: ['order', 'region'] }];
  const check = (args: unknown, header: string | undefined): void =>
    requireParamHeaders(declared, { arguments: args }, { 'mcp-param-region': header });

  it.each<[unknown, string | undefined]>([
    [withRegion('eu'), 'eu'],
    [withRegion('größe'), '=?base64?Z3LDtsOfZQ==?='],
    [withRegion(true), 'true'],
    [withRegion(42), '42'],
    [withRegion(42), '4.2e1'],
    [withRegion(42), '42.0'],
    [withRegion(-0.5), '-5E-1'],
    // There is no argument: the header is not expected, and is ignored.
    [withRegion(null), 'eu'],
    [{}, undefined],
    [undefined, undefined],
    [withRegion({ a: 1 }), undefined],
  ])('accepts %j with %j', (args, header) => {
    expect(() => check(args, header)).not.toThrow();
  });

  it.each<[unknown, string | undefined]>([
    [withRegion('eu'), undefined],
    [withRegion('eu'), 'us'],
    [withRegion('eu'), 'EU'],
    [withRegion('42'), '42.0'],
    [withRegion(42), '43'],
    [withRegion(42), '0x2a'],
    [withRegion(42), ' '],
    [withRegion(0), ''],
    [withRegion(true), 'TRUE'],
    [withRegion('x'), '=?base64?eA?='],
  ])('refuses %j with %j', (args, header) => {
    expect(() => check(args, header)).toThrow(expect.objectContaining({ kind: 'header-mismatch' }));
  });

  it('checks nothing in revisions without these headers', () => {
    expect(() => requireParamHeaders(declared, { arguments: withRegion('eu') }, undefined)).not.toThrow();
  });
});
