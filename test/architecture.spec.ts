import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { retiredWordsIn, violationsOf, type SourceFile } from './kit/architecture-rules.js';
import { readSource, sourceFilesIn, textFilesIn } from './kit/source-files.js';

const file = (
  path: string,
  imports: string[] = [],
  packages: string[] = [],
  lines = 1,
  exports: string[] = [],
): SourceFile => ({ path, imports, packages, lines, exports });

/** Violations when one existing file imports another. */
const whenImporting = (from: string, to: string): string[] => violationsOf([file(from, [to]), file(to)]);

describe('src/', () => {
  it('follows the architecture rules', () => {
    const files = sourceFilesIn('src');
    expect(files.length).toBeGreaterThan(100);
    expect(violationsOf(files)).toEqual([]);
  });
});

describe('src/, test/, bench/ and docs/', () => {
  it('use no retired word', () => {
    const pages = ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];
    const files = [
      ...textFilesIn(['src', 'test', 'bench', 'docs', 'config', 'docker'], /\.(tsx?|mjs|md|ya?ml)$/),
      ...pages.map((path) => ({ path, text: readFileSync(path, 'utf8') })),
    ].filter(({ path }) => !/^test[/\\](architecture\.spec|kit[/\\]architecture-rules)\.ts$/.test(path));
    expect(files.length).toBeGreaterThan(500);
    expect(files.flatMap(({ path, text }) => retiredWordsIn(path, text))).toEqual([]);
  });
});

describe('docs/decisions', () => {
  it.each(textFilesIn(['docs/decisions'], /\.md$/))('$path has a status and a date', ({ text }) => {
    expect(text).toMatch(/^# \d+\. .+\n\n- \*\*Status:\*\* \S.*\n- \*\*Date:\*\* \d{4}-\d\d-\d\d\n/);
  });
});

describe('the section Where to look of ARCHITECTURE.md', () => {
  const [, section = ''] =
    /## Where to look\n(.*?)\n## Modules/s.exec(readFileSync('ARCHITECTURE.md', 'utf8')) ?? [];
  const references = [...section.matchAll(/`([\w./-]+\.tsx?)`(?: \(((?:`\w+`(?:, )?)+)\))?/g)];

  it('name existing files, and names that these files contain', () => {
    expect(references.length).toBeGreaterThan(100);
    const wrong = references.filter(([, path, names = '']) => {
      const source = `src/${path}`;
      const text = existsSync(source) ? readFileSync(source, 'utf8') : undefined;
      const words = [...names.matchAll(/\w+/g)].map(([name]) => name);
      return text === undefined || words.some((name) => !new RegExp(`\\b${name}\\b`).test(text));
    });
    expect(wrong.map(([reference]) => reference)).toEqual([]);
  });

  it.each(readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory()))(
    'name a file of src/$name',
    ({ name }) => {
      expect(references.some(([, path]) => path!.startsWith(`${name}/`))).toBe(true);
    },
  );
});

describe('the glossary in ARCHITECTURE.md', () => {
  it('has at most 40 terms', () => {
    const [, glossary = ''] = readFileSync('ARCHITECTURE.md', 'utf8').split('## Glossary');
    const terms = [...glossary.matchAll(/^\| ([a-z][^|]*?) +\|/gm)].map(([, term]) => term);
    expect(terms).toContain('upstream subscription');
    expect(new Set(terms).size).toBe(terms.length);
    expect(terms.filter((term) => term !== 'term').length).toBeLessThanOrEqual(40);
  });
});

describe('retiredWordsIn', () => {
  it.each([
    ['const houseTools = 1;', ['a.ts:1 uses the retired word house']],
    ['// The House.', ['a.ts:1 uses the retired word house']],
    ['\nconst OF_THE_HOUSE = 1;', ['a.ts:2 uses the retired word house']],
    ['new DeedLog(wishes);', ['a.ts:1 uses the retired word deed', 'a.ts:1 uses the retired word wishes']],
    ['gatehouse Gatehouse GATEHOUSE__HTTP__PORT io.gatehouse/server warehouse indeed', []],
  ])('reports the retired words of %j', (text, violations) => {
    expect(retiredWordsIn('a.ts', text)).toEqual(violations);
  });
});

describe('architecture rules', () => {
  it.each([
    ['a lower layer', 'tools/tools.controller.ts', 'core/errors.ts'],
    ['the next lower layer', 'edge/session.ts', 'tools/tools.module.ts'],
    ['a file of the same module', 'core/naming/name-table.ts', 'core/naming/naming.ts'],
    ['a subfolder of the same module', 'backends/backend.ts', 'backends/http/pending-post.ts'],
    ['a library, from core', 'core/scope.ts', 'lib/slices/slices.ts'],
    ['the edge, from health', 'health/health.module.ts', 'edge/edge.module.ts'],
    ['the version, from any module', 'backends/backend.ts', 'version.ts'],
    ['the logger, from the entry point', 'main.ts', 'json-logger.ts'],
    ['every module, from the entry point', 'app.module.ts', 'edge/edge.module.ts'],
    ['an entry-point file, from the entry point', 'main.ts', 'process-signals.ts'],
    ['any module, from a program', 'cli/command-line.ts', 'state/audit/verify-audit.ts'],
    ['the client, from a program', 'tui/run-tui.tsx', 'client/admin-api.ts'],
  ])('allow importing %s', (_what, from, to) => {
    expect(whenImporting(from, to)).toEqual([]);
  });

  it.each([
    ['core, from a library', 'lib/slices/slices.ts', 'core/scope.ts'],
    ['a higher layer', 'core/errors.ts', 'mcp/json-rpc.ts'],
    ['the next higher layer', 'registry/list-pages.ts', 'backends/link/link.ts'],
    ['a module of the same layer', 'mcp/params.ts', 'config/limits.ts'],
    ['a feature, from another feature', 'tools/tools.controller.ts', 'prompts/prompts.module.ts'],
    ['health, from the edge', 'edge/session.ts', 'health/health.module.ts'],
    ['health, from admin', 'admin/admin.module.ts', 'health/health.controller.ts'],
    ['admin, from the edge', 'edge/session.ts', 'admin/admin.module.ts'],
    ['the entry point, from a module', 'edge/session.ts', 'app.module.ts'],
    ['the version, from core', 'core/errors.ts', 'version.ts'],
    ['a module, from a global file', 'version.ts', 'core/errors.ts'],
    ['a program, from a module', 'admin/admin.module.ts', 'cli/key-create.ts'],
    ['the entry point, from a program', 'cli/command-line.ts', 'serve.ts'],
    ['a program, from another', 'cli/command-line.ts', 'tui/run-tui.tsx'],
    ['a program, from the client', 'client/admin-api.ts', 'cli/command-line.ts'],
    ['the client, from a module', 'admin/admin.module.ts', 'client/admin-api.ts'],
  ])('forbid importing %s', (_what, from, to) => {
    expect(whenImporting(from, to)).toEqual([`${from} may not import ${to}`]);
  });

  it.each([
    ['lib/sse/sse-parser.ts', 'node:crypto', true],
    ['lib/sse/sse-parser.ts', '@nestjs/common', false],
    ['lib/sse/sse-parser.ts', 'eventsource-parser', false],
    ['core/scope.ts', 'node:crypto', true],
    ['core/scope.ts', 'node:fs', false],
    ['core/scope.ts', '@nestjs/common', false],
    ['core/scope.ts', '@modelcontextprotocol/sdk/types.js', false],
    ['mcp/json-rpc.ts', '@modelcontextprotocol/sdk/types.js', true],
    ['backends/http/pending-post.ts', '@modelcontextprotocol/sdk/types.js', true],
    ['backends/sse/sse-transport.ts', '@modelcontextprotocol/sdk/client/sse.js', false],
    ['backends/sse/sse-transport.ts', '@modelcontextprotocol/client', false],
    ['edge/session.ts', '@modelcontextprotocol/client', true],
    ['tools/tools.controller.ts', '@modelcontextprotocol/sdk/types.js', false],
    ['registry/list-pages.ts', '@modelcontextprotocol/sdk/types.js', false],
    ['client/mcp-client.ts', '@modelcontextprotocol/sdk/types.js', true],
    ['cli/command-line.ts', '@modelcontextprotocol/sdk/types.js', false],
    ['main.ts', '@modelcontextprotocol/sdk/types.js', false],
    ['tools/tools.controller.ts', '@nestjs/common', true],
    ['tools/tools.controller.ts', '@nestjs/common/constants.js', false],
    ['main.ts', '@nestjs/core/helpers/index.js', false],
  ])('on %s importing the package %s: %s', (path, name, allowed) => {
    const problems = allowed ? [] : [`${path} may not import the package ${name}`];
    expect(violationsOf([file(path, [], [name])])).toEqual(problems);
  });

  it.each(['attic/a.ts', 'setup.ts'])('forbid %s, which belongs to no layer', (path) => {
    expect(violationsOf([file(path)])).toEqual([`${path} belongs to no layer`]);
  });

  it.each([
    'core/utils.ts',
    'mcp/helpers/a.ts',
    'edge/types.ts',
    'core/constants.ts',
    'edge/index.ts',
    'config/common.ts',
  ])('forbid the meaningless name %s', (path) => {
    expect(violationsOf([file(path)])).toEqual([`${path} has a meaningless name`]);
  });

  it('allow a name that contains a meaningless word', () => {
    expect(violationsOf([file('config/common-server-config.ts')])).toEqual([]);
  });

  it('require that AppModule imports every module', () => {
    const modules = [file('tools/tools.module.ts'), file('edge/edge.module.ts', ['tools/tools.module.ts'])];
    expect(violationsOf([file('app.module.ts', ['edge/edge.module.ts']), ...modules])).toEqual([
      'app.module.ts does not import tools/tools.module.ts',
    ]);
    expect(
      violationsOf([
        file(
          'app.module.ts',
          modules.map(({ path }) => path),
        ),
        ...modules,
      ]),
    ).toEqual([]);
  });

  it('forbid more than 400 lines', () => {
    expect(violationsOf([file('core/a.ts', [], [], 400)])).toEqual([]);
    expect(violationsOf([file('core/a.ts', [], [], 401)])).toEqual([
      'core/a.ts has 401 lines, more than 400',
    ]);
  });

  it('report a name that two files export', () => {
    const files = [file('core/a.ts', [], [], 1, ['Entry', 'A']), file('tui/b.ts', [], [], 1, ['Entry'])];
    expect(violationsOf(files)).toEqual(['Entry is exported by core/a.ts and tui/b.ts']);
  });

  it('report each import cycle with its files', () => {
    const files = [
      file('core/start.ts', ['core/a.ts', 'core/d.ts']),
      file('core/a.ts', ['core/b.ts']),
      file('core/b.ts', ['core/c.ts', 'core/d.ts']),
      file('core/c.ts', ['core/a.ts']),
      file('core/d.ts'),
      file('core/self.ts', ['core/self.ts']),
    ];
    expect(violationsOf(files)).toEqual([
      'cycle: core/a.ts -> core/b.ts -> core/c.ts -> core/a.ts',
      'cycle: core/self.ts -> core/self.ts',
    ]);
  });

  it('allow two import paths to one file', () => {
    const files = [
      file('core/a.ts', ['core/b.ts', 'core/c.ts']),
      file('core/b.ts', ['core/c.ts']),
      file('core/c.ts'),
    ];
    expect(violationsOf(files)).toEqual([]);
  });

  it('forbid importing a spec or the test kit', () => {
    expect(violationsOf([file('core/a.ts', ['core/a.spec.ts'])])).toEqual([
      'core/a.ts imports core/a.spec.ts, which is not a source file',
    ]);
  });
});

describe('readSource', () => {
  it.each([
    ['export class A {} export interface B {}', ['A', 'B']],
    ['export const a = 1, b = 2; export async function c() {}', ['a', 'b', 'c']],
    ['export function a(): void; export function a(x: 1): void; export function a() {}', ['a']],
    ["export { a } from './a.js'; const b = 1; export type C = 1;", ['C']],
  ])('finds the exported names of %s', (text, exports) => {
    expect(readSource('core/a.ts', text)).toMatchObject({ exports });
  });

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
  ])('finds the imports of %s', (text, imports) => {
    expect(readSource('core/a.ts', text)).toMatchObject({ imports, packages: [] });
  });

  it('separates packages from files and counts lines', () => {
    expect(readSource('core/a.ts', "import 'node:fs';\nimport b from '@a/b/c.js';\n")).toEqual({
      path: 'core/a.ts',
      imports: [],
      packages: ['node:fs', '@a/b/c.js'],
      exports: [],
      lines: 2,
    });
  });
});
