import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { maskArgs, secretPartsOf } from './secret-parts.js';

const masked = (args: readonly string[]): string[] => maskArgs(args, '*');

describe('maskArgs', () => {
  it.each([
    [['--api-key=abc'], ['--api-key=*']],
    [
      ['--token', 'x', '--port', '80'],
      ['--token', '*', '--port', '80'],
    ],
    [
      ['--token', '--verbose'],
      ['--token', '--verbose'],
    ],
    [['postgres://user:p@ss@db.example.com:5432/app'], ['postgres://user:*@db.example.com:5432/app']],
    [['redis://:secret@localhost'], ['redis://:*@localhost']],
    [
      ['-e', 'GITHUB_TOKEN=a b&c', 'image'],
      ['-e', 'GITHUB_TOKEN=*', 'image'],
    ],
    [
      ['--header', 'Authorization: Bearer abc'],
      ['--header', 'Authorization: Bearer *'],
    ],
    [['{"apiKey":"abc","region":"eu"}'], ['{"apiKey":"*","region":"eu"}']],
    [['https://mcp.example.com/mcp?api_key=abc&x=1'], ['https://mcp.example.com/mcp?api_key=*&x=1']],
    [['https://mcp.example.com/s/9f86d081884c7d659a2feaa0c55ad015/mcp'], ['https://mcp.example.com/s/*/mcp']],
    [['ghp_1234567890abcdefABCD'], ['*']],
    [['x eyJhbGciOiJI.eyJzdWIiOiIx.c2ln y'], ['x * y']],
    [['dGhpcyBpcyBhIHNlY3JldCBrZXk='], ['*']],
  ])('finds the secrets of %j', (args, expected) => {
    expect(masked(args)).toEqual(expected);
  });

  it.each([
    ['-y', '@modelcontextprotocol/server-filesystem@2026.8.31', './docs'],
    ['--host', '127.0.0.1', '--region', 'us-east-1', '--log-level=debug'],
    ['run', '--rm', '-i', 'ghcr.io/github/github-mcp-server:v0.12.1'],
    ['/usr/lib/node_modules/mcp-server-postgres/dist/index.js', '--max-tokens=4096'],
    [
      'https://mcp.example.com:8443/mcp',
      '--token-url=https://login.example.com',
      '--key-file',
      '/etc/key.pem',
    ],
    ['C:\\Program Files\\nodejs\\node.exe', 'linux-x64-node20-server-v2', ''],
  ])('finds no secret in %j', (...args) => {
    expect(masked(args)).toEqual(args);
  });

  it('finds parts in order, within the text and without overlaps', () => {
    const pieces = fc.constantFrom(
      '--token=',
      'key: ',
      'a'.repeat(8),
      '1x2y',
      '//u:p@',
      '"',
      '&',
      ' ',
      '=',
      'eyJ.',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 20 }), (chosen) => {
        const text = chosen.join('');
        let end = -1;
        for (const part of secretPartsOf(text)) {
          expect(part.start).toBeGreaterThan(end);
          expect(part.end).toBeGreaterThan(part.start);
          ({ end } = part);
        }
        expect(end).toBeLessThanOrEqual(text.length);
      }),
    );
  });

  it.each(['a', 'a:', '//a:', 'eyJ', 'eyJ-', 'key=', 'A1', '=', ' '])(
    'takes linear time for 100,000 characters of %j',
    (piece) => {
      const text = piece.repeat(100_000 / piece.length);
      const startedAt = performance.now();
      secretPartsOf(text);
      expect(performance.now() - startedAt).toBeLessThan(3000);
    },
  );
});
