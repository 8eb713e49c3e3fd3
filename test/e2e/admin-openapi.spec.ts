import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { openApiDocument } from '../../src/admin/openapi/document.js';

type Json = Record<string, unknown>;

describe('the OpenAPI document', () => {
  const document = openApiDocument() as { paths: Record<string, Json>; components: { schemas: Json } };
  let routes: string[];

  beforeAll(() => {
    const options = { encoding: 'utf8', timeout: 30_000 } as const;
    const facts = JSON.parse(execFileSync(process.execPath, ['test/kit/app-facts.mjs'], options)) as Json;
    routes = facts['routes'] as string[];
  }, 30_000);

  it('names exactly the routes there are', () => {
    const described = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const mapped = routes
      .filter((route) => route.includes('/admin/v1') && !route.startsWith('HEAD '))
      .map((route) => route.replaceAll(/:(\w+)/g, '{$1}'));
    expect(described.toSorted()).toEqual([...new Set(mapped)].toSorted());
  });

  it('gives every operation a name of its own, and every parameter of a path', () => {
    const operations = Object.entries(document.paths).flatMap(([path, found]) =>
      Object.values(found).map((operation) => ({
        path,
        ...(operation as { operationId: string; parameters?: Json[] }),
      })),
    );
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    for (const { path, parameters = [] } of operations) {
      const inPath = parameters.filter((parameter) => parameter['in'] === 'path').map(({ name }) => name);
      expect(inPath).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    }
  });

  it('refers to nothing that is not there', () => {
    const text = JSON.stringify(document);
    const names = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) =>
      ref!.replace('#/components/schemas/', ''),
    );
    expect(names.filter((name) => !(name in document.components.schemas))).toEqual([]);
  });
});
