import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';
import type { SourceFile } from './architecture-rules.js';

/** All source files below a folder, without specs. */
export function sourceFilesIn(root: string): SourceFile[] {
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !/\.spec\.tsx?$/.test(path))
    .toSorted();
  const files = paths.map((path) => readSource(path, readFileSync(join(root, path), 'utf8')));
  const components = new Set(paths.filter((path) => path.endsWith('.tsx')));
  // Imports of .ts and of .tsx files both end in .js.
  const withExtension = (path: string): string => (components.has(`${path}x`) ? `${path}x` : path);
  return files.map((file) => ({ ...file, imports: file.imports.map(withExtension) }));
}

export function readSource(path: string, text: string): SourceFile {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const specifiers = [...new Set(specifiersIn(source))];
  return {
    path,
    lines: text.trimEnd().split('\n').length,
    imports: specifiers
      .filter(isFile)
      .map((to) => posix.join(posix.dirname(path), to).replace(/\.js(x?)$/, '.ts$1')),
    packages: specifiers.filter((specifier) => !specifier.startsWith('.')),
    exports: exportsOf(source),
  };
}

/** Names declared with `export`. A function with overloads counts once; re-exports do not count. */
function exportsOf(source: ts.SourceFile): string[] {
  const names = new Set<string>();
  for (const statement of source.statements) {
    if (!ts.canHaveModifiers(statement)) continue;
    const isExported = ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (!isExported) continue;
    for (const name of declaredNames(statement)) names.add(name);
  }
  return [...names];
}

function declaredNames(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) =>
      ts.isIdentifier(name) ? [name.text] : [],
    );
  const { name } = statement as ts.Statement & { readonly name?: ts.Identifier };
  return name ? [name.text] : [];
}

/** The files below these folders whose names match `endings`, for checks of their text. */
export function textFilesIn(
  roots: readonly string[],
  endings: RegExp,
): { readonly path: string; readonly text: string }[] {
  return roots.flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((path) => endings.test(path))
      .toSorted()
      .map((path) => ({ path: join(root, path), text: readFileSync(join(root, path), 'utf8') })),
  );
}

/** Imported JSON files and pages of the manual are data and belong to no layer. */
const isFile = (specifier: string): boolean => specifier.startsWith('.') && !/\.(json|md)$/.test(specifier);

/** The module specifiers of all imports and re-exports, static, dynamic and of types. */
function specifiersIn(source: ts.SourceFile): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const specifier = specifierOf(node);
    if (specifier && ts.isStringLiteralLike(specifier)) found.push(specifier.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function specifierOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isImportTypeNode(node))
    return ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined;
  const isDynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
  return isDynamic ? node.arguments[0] : undefined;
}
