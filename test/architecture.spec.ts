import { describe, expect, it } from '@jest/globals';
import { problemsOf, type SourceFile } from './kit/house-rules.js';
import { readSource, sourceFilesIn } from './kit/source-files.js';

const file = (path: string, imports: string[] = [], packages: string[] = [], lines = 1): SourceFile => ({
  path,
  imports,
  packages,
  lines,
});

/** What is wrong when one file imports another, both of them being there. */
const whenImporting = (from: string, to: string): string[] => problemsOf([file(from, [to]), file(to)]);

describe('the house', () => {
  it('is in order', () => {
    const files = sourceFilesIn('src');
    expect(files.length).toBeGreaterThan(100);
    expect(problemsOf(files)).toEqual([]);
  });
});

describe('the rules of the house', () => {
  it.each([
    ['a room below', 'tools/tools.controller.ts', 'core/errors.ts'],
    ['a room right below', 'edge/session.ts', 'tools/tools.module.ts'],
    ['a file of the same room', 'core/name-table.ts', 'core/naming.ts'],
    ['a folder of the same room', 'backends/connect.ts', 'backends/http/exchange.ts'],
    ['the edge, from health', 'health/health.module.ts', 'edge/edge.module.ts'],
    ['the version, from anywhere', 'backends/connect.ts', 'version.ts'],
    ['the logger, from the start', 'main.ts', 'json-logger.ts'],
    ['everything, from the start', 'app.module.ts', 'edge/edge.module.ts'],
    ['a file of the start, from the start', 'main.ts', 'process-signals.ts'],
    ['any room, from a program', 'cli/command-line.ts', 'admin/audit/verify-audit.ts'],
    ['the client, from a program', 'tui/run-tui.tsx', 'client/admin-api.ts'],
  ])('allow to import %s', (_what, from, to) => {
    expect(whenImporting(from, to)).toEqual([]);
  });

  it.each([
    ['a room above', 'core/errors.ts', 'mcp/json-rpc.ts'],
    ['a room right above', 'registry/list-pages.ts', 'backends/link.ts'],
    ['a neighbour on the first floor', 'mcp/params.ts', 'config/limits.ts'],
    ['a neighbour among the features', 'tools/tools.controller.ts', 'prompts/prompts.module.ts'],
    ['health, from the edge', 'edge/session.ts', 'health/health.module.ts'],
    ['health, from admin', 'admin/admin.module.ts', 'health/health.controller.ts'],
    ['admin, from the edge', 'edge/session.ts', 'admin/admin.module.ts'],
    ['the start, from a room', 'edge/session.ts', 'app.module.ts'],
    ['even the version, from core', 'core/errors.ts', 'version.ts'],
    ['a room, from what everybody imports', 'version.ts', 'core/errors.ts'],
    ['a program', 'admin/admin.module.ts', 'cli/key-create.ts'],
    ['the start, from a program', 'cli/command-line.ts', 'serve.ts'],
    ['a program, from another', 'cli/command-line.ts', 'tui/run-tui.tsx'],
    ['a program, from the client', 'client/admin-api.ts', 'cli/command-line.ts'],
    ['the client, from a room', 'admin/admin.module.ts', 'client/admin-api.ts'],
  ])('forbid to import %s', (_what, from, to) => {
    expect(whenImporting(from, to)).toEqual([`${from} may not import ${to}`]);
  });

  it.each([
    ['core/naming.ts', 'node:crypto', true],
    ['core/naming.ts', 'node:fs', false],
    ['core/naming.ts', '@nestjs/common', false],
    ['core/naming.ts', '@modelcontextprotocol/sdk/types.js', false],
    ['mcp/json-rpc.ts', '@modelcontextprotocol/sdk/types.js', true],
    ['backends/http/inbox.ts', '@modelcontextprotocol/sdk/types.js', true],
    ['edge/session.ts', '@modelcontextprotocol/client', true],
    ['tools/tools.controller.ts', '@modelcontextprotocol/sdk/types.js', false],
    ['registry/list-pages.ts', '@modelcontextprotocol/sdk/types.js', false],
    ['client/mcp-client.ts', '@modelcontextprotocol/sdk/types.js', true],
    ['cli/command-line.ts', '@modelcontextprotocol/sdk/types.js', false],
    ['main.ts', '@modelcontextprotocol/sdk/types.js', false],
    ['tools/tools.controller.ts', '@nestjs/common', true],
  ])('on %s importing the package %s: %s', (path, name, allowed) => {
    const problems = allowed ? [] : [`${path} may not import the package ${name}`];
    expect(problemsOf([file(path, [], [name])])).toEqual(problems);
  });

  it.each(['attic/a.ts', 'setup.ts'])('forbid %s, which stands on no floor', (path) => {
    expect(problemsOf([file(path)])).toEqual([`${path} stands on no floor`]);
  });

  it.each([
    'core/utils.ts',
    'mcp/helpers/a.ts',
    'edge/types.ts',
    'core/constants.ts',
    'edge/index.ts',
    'config/common.ts',
  ])('forbid %s, whose name says nothing', (path) => {
    expect(problemsOf([file(path)])).toEqual([`${path} has a name that says nothing`]);
  });

  it('allow a name that says something more', () => {
    expect(problemsOf([file('config/common-server-config.ts')])).toEqual([]);
  });

  it('forbid more than 400 lines', () => {
    expect(problemsOf([file('core/a.ts', [], [], 400)])).toEqual([]);
    expect(problemsOf([file('core/a.ts', [], [], 401)])).toEqual(['core/a.ts has 401 lines, more than 400']);
  });

  it('forbid cycles, and name the way around each', () => {
    const files = [
      file('core/start.ts', ['core/a.ts', 'core/d.ts']),
      file('core/a.ts', ['core/b.ts']),
      file('core/b.ts', ['core/c.ts', 'core/d.ts']),
      file('core/c.ts', ['core/a.ts']),
      file('core/d.ts'),
      file('core/self.ts', ['core/self.ts']),
    ];
    expect(problemsOf(files)).toEqual([
      'cycle: core/a.ts -> core/b.ts -> core/c.ts -> core/a.ts',
      'cycle: core/self.ts -> core/self.ts',
    ]);
  });

  it('allow to reach a file by two ways', () => {
    const files = [
      file('core/a.ts', ['core/b.ts', 'core/c.ts']),
      file('core/b.ts', ['core/c.ts']),
      file('core/c.ts'),
    ];
    expect(problemsOf(files)).toEqual([]);
  });

  it('forbid to import what is no source, such as a spec or the test kit', () => {
    expect(problemsOf([file('core/a.ts', ['core/a.spec.ts'])])).toEqual([
      'core/a.ts imports core/a.spec.ts, which is no source',
    ]);
  });
});

describe('readSource', () => {
  it.each([
    ["import a from './b.js';", ['core/b.ts']],
    ["import type { A } from './b.js';", ['core/b.ts']],
    ["import { type A } from '../mcp/b.js';", ['mcp/b.ts']],
    ["import './b.js';", ['core/b.ts']],
    ["export * from './b.js';", ['core/b.ts']],
    ["export type { A } from './b.js';", ['core/b.ts']],
    ["const b = await import('./b.js');", ['core/b.ts']],
    ["let b: import('./b.js').B;", ['core/b.ts']],
    ["let b: typeof import('./b.js');", ['core/b.ts']],
    ["import a from './b.js'; export { a } from './b.js';", ['core/b.ts']],
    ["import kit from '../../test/kit/a.js';", ['../test/kit/a.ts']],
    ["// import a from './b.js';\nconst text = \"import a from './b.js'\"; import.meta.url;", []],
  ])('finds what %s imports', (text, imports) => {
    expect(readSource('core/a.ts', text)).toMatchObject({ imports, packages: [] });
  });

  it('tells packages from files, and counts lines', () => {
    expect(readSource('core/a.ts', "import 'node:fs';\nimport b from '@a/b/c.js';\n")).toEqual({
      path: 'core/a.ts',
      imports: [],
      packages: ['node:fs', '@a/b/c.js'],
      lines: 2,
    });
  });
});
