import type { ResourceContents } from '../client/sdk-mcp-client.js';
import { printableLines } from '../client/printable.js';
import { formatBytes } from '../client/format.js';

const MAX_TEXT_LENGTH = 100_000;
/** Maximum number of bytes in a hex dump. */
const MAX_BYTES = 1024;
const BYTES_PER_LINE = 8;

/** The lines of the preview of a resource: its text, or a hex dump of the first bytes of binary contents. */
export function previewLines(contents: readonly ResourceContents[]): string[] {
  if (contents.length === 0) return ['(no contents)'];
  return contents.flatMap((content, at) => [
    ...(contents.length > 1
      ? [...(at === 0 ? [] : ['']), `── ${at + 1} of ${contents.length}: ${printableLines(content.uri)[0]}`]
      : []),
    ...(content.text === undefined ? hexLines(content) : textLines(content.text)),
  ]);
}

function textLines(text: string): string[] {
  if (text === '') return ['(empty)'];
  const shown = printableLines(text.slice(0, MAX_TEXT_LENGTH));
  return text.length > MAX_TEXT_LENGTH
    ? [...shown, `… ${formatBytes(text.length - MAX_TEXT_LENGTH)} more`]
    : shown;
}

function hexLines({ blob = '', mimeType = 'binary' }: ResourceContents): string[] {
  const bytes = Buffer.from(blob, 'base64');
  const lines = [`${printableLines(mimeType)[0]}, ${formatBytes(bytes.length)}`, ''];
  for (let at = 0; at < Math.min(bytes.length, MAX_BYTES); at += BYTES_PER_LINE) {
    const part = bytes.subarray(at, at + BYTES_PER_LINE);
    const hex = [...part].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const letters = [...part].map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.'));
    lines.push(`${at.toString(16).padStart(4, '0')}  ${hex.padEnd(BYTES_PER_LINE * 3)} ${letters.join('')}`);
  }
  return bytes.length > MAX_BYTES ? [...lines, `… ${formatBytes(bytes.length - MAX_BYTES)} more`] : lines;
}
