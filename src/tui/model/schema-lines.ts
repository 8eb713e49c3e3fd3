import { printable, printableLines } from '../../client/printable.js';
import { wrapText } from '../../client/terminal-text.js';
import { isJsonObject } from '../../lib/json-text/json-value.js';
import { textLine, span, type TextLine } from './text-line.js';

const MAX_PROPERTIES = 200;

/** The properties of a JSON Schema: name, type, `required`, description and default. */
export function schemaLines(schema: unknown, width: number): TextLine[] {
  const properties =
    isJsonObject(schema) && isJsonObject(schema['properties']) ? Object.entries(schema['properties']) : [];
  if (properties.length === 0) return [textLine('none', 'dim')];
  const required = isJsonObject(schema) && Array.isArray(schema['required']) ? schema['required'] : [];
  return properties
    .slice(0, MAX_PROPERTIES)
    .flatMap(([name, property]) => [
      [
        span(printable(name), 'accent'),
        span(`  ${printable(typeOf(property))}`),
        span(required.includes(name) ? '  required' : '', 'dim'),
      ],
      ...descriptionOf(property, width),
    ]);
}

function typeOf(property: unknown): string {
  if (!isJsonObject(property)) return 'any';
  if (Array.isArray(property['enum']))
    return property['enum'].map((value) => JSON.stringify(value)).join(' | ');
  const { type, items, anyOf, oneOf } = property;
  const choices = [anyOf, oneOf].find(Array.isArray);
  if (choices) return choices.map(typeOf).join(' | ');
  if (type === 'array') return `${typeOf(items)}[]`;
  return Array.isArray(type) ? type.join(' | ') : typeof type === 'string' ? type : 'any';
}

function descriptionOf(property: unknown, width: number): TextLine[] {
  const { description, default: fallback } = isJsonObject(property) ? property : {};
  const text = typeof description === 'string' ? description : '';
  const suffix =
    fallback === undefined ? '' : `${text === '' ? '' : ' '}(default ${JSON.stringify(fallback)})`;
  if (text + suffix === '') return [];
  return printableLines(text + suffix).flatMap((line) =>
    wrapText(line, width - 2).map((part): TextLine => [span('  '), span(part, 'dim')]),
  );
}
