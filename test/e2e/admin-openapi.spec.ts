import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { AdminContract, readOpenApi } from '../kit/admin-contract.js';

type Json = Record<string, unknown>;

const run = (...args: string[]): string =>
  execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 });

describe('the OpenAPI document of the admin API', () => {
  const document = readOpenApi();

  it('names exactly the routes of the application', () => {
    const { routes } = JSON.parse(run('test/kit/app-facts.mjs')) as { routes: string[] };
    const described = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const mapped = routes
      .filter((route) => route.includes('/admin/v1') && !route.startsWith('HEAD '))
      .map((route) => route.replaceAll(/:(\w+)/g, '{$1}'));
    expect(described.toSorted()).toEqual([...new Set(mapped)].toSorted());
  });

  it('gives every operation a unique id and every path parameter', () => {
    const operations = Object.entries(document.paths).flatMap(([path, found]) =>
      Object.values(found).map((operation) => ({
        path,
        ...(operation as unknown as { operationId: string; parameters?: Json[] }),
      })),
    );
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    for (const { path, parameters = [] } of operations) {
      const inPath = parameters.filter((parameter) => parameter['in'] === 'path').map(({ name }) => name);
      expect(inPath).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    }
  });

  it('describes every operation, response and parameter', () => {
    const operations = Object.values(document.paths).flatMap((found) => Object.values(found));
    for (const { summary, responses, parameters = [] } of operations) {
      const described = [
        summary,
        ...[...Object.values(responses), ...(parameters as Json[])].map(
          (part) => (part as Json)['description'],
        ),
      ];
      expect(described.filter((text) => typeof text !== 'string' || text === '')).toEqual([]);
    }
  });

  it('resolves every reference', () => {
    const text = JSON.stringify(document);
    const names = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) =>
      ref!.replace('#/components/schemas/', ''),
    );
    expect(names.filter((name) => !(name in document.components.schemas))).toEqual([]);
  });

  it('marks the fields that the next release drops as deprecated', () => {
    const deprecated = Object.entries(document.components.schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties as Record<string, Json>)
        .filter(([, property]) => property['deprecated'])
        .map(([property]) => `${name}.${property}`),
    );
    expect(deprecated.toSorted()).toEqual([
      'CatalogItem.own',
      'Resource.original',
      'ResourceTemplate.original',
      'ServerTool.own',
      'Subscription.original',
      'Tool.own',
    ]);
  });
});

describe('AdminContract', () => {
  const contract = new AdminContract();
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  const url = 'http://127.0.0.1/admin/v1/config';
  const check = (status: number, body: object, more = {}): void =>
    contract.check('GET', url, { status, headers: { ...headers, ...more }, text: JSON.stringify(body) });

  it('accepts a response as documented', () => {
    expect(() =>
      check(200, { ok: true, restartNeeded: [], overruledBy: [], at: '2026-01-31T12:00:00.000Z' }),
    ).not.toThrow();
  });

  it.each<[string, number, object, object, string]>([
    ['an undocumented status', 418, {}, {}, 'the status is not documented'],
    ['a missing member', 200, { ok: true }, {}, 'at'],
    [
      'an undocumented member',
      200,
      { ok: true, restartNeeded: [], overruledBy: [], at: '2026-01-31T12:00:00.000Z', more: 1 },
      {},
      'more',
    ],
    ['a member of another type', 200, { ok: 1, at: '2026-01-31T12:00:00.000Z' }, {}, '/ok'],
    ['a time in another form', 200, { ok: true, restartNeeded: [], overruledBy: [], at: 'today' }, {}, '/at'],
    [
      'an undocumented ETag',
      200,
      { ok: true, restartNeeded: [], overruledBy: [], at: '2026-01-31T12:00:00.000Z' },
      { etag: '"x"' },
      'ETag',
    ],
    ['another content type', 200, {}, { 'content-type': 'text/html' }, 'text/html'],
  ])('refuses %s', (_what, status, body, more, message) => {
    expect(() => check(status, body, more)).toThrow(message);
  });
});
