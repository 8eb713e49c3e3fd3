import { printable, printableLines } from '../../client/printable.js';
import { wrapText } from '../../client/terminal-text.js';
import { isJsonObject } from '../../lib/json-text/json-value.js';
import { textLine, span, type TextLine } from './text-line.js';

const MAX_PROPERTIES = 200;

/** Lines about the properties of a JSON Schema: name, type, `required`, description and default. */
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
  if (Array.isArray(type)) return type.join(' | ');
  return typeof type === 'string' ? type : 'any';
}

function descriptionOf(property: unknown, width: number): TextLine[] {
  const { description, default: defaultValue } = isJsonObject(property) ? property : {};
  const parts = [
    ...(typeof description === 'string' && description !== '' ? [description] : []),
    ...(defaultValue === undefined ? [] : [`(default ${JSON.stringify(defaultValue)})`]),
  ];
  if (parts.length === 0) return [];
  return printableLines(parts.join(' ')).flatMap((line) =>
    wrapText(line, width - 2).map((part): TextLine => [span('  '), span(part, 'dim')]),
  );
}
