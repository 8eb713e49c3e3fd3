import { describe, expect, it } from '@jest/globals';
import { readConfig } from '../load-config.js';

const secretsOf = (text: string, env: Record<string, string>) =>
  readConfig({ text, source: 'g.yaml', env }).secrets;

describe('SecretCollector', () => {
  it.each([
    ['a header', 'mcpServers: { a: { url: "http://a", headers: { Authorization: "Bearer ${V}" } } }'],
    ['an environment variable of a server', 'mcpServers: { a: { command: node, env: { KEY: "${V}" } } }'],
    ['an argument', 'mcpServers: { a: { command: node, args: ["--key=${V}"] } }'],
    ['a URL', 'mcpServers: { a: { url: "http://a/?key=${V}" } }'],
  ])('collects environment values in %s', (_where, text) => {
    expect(secretsOf(text, { V: 'hunter22' })).toEqual(['hunter22']);
  });

  it.each([
    ['an address', 'mcpServers: { a: { command: node, env: { HOST: "${V}" } } }', '127.0.0.1'],
    ['a region', 'mcpServers: { a: { command: node, args: ["${V}"] } }', 'us-east-1'],
    ['a short text', 'mcpServers: { a: { command: node, args: ["${V}"] } }', 'hunt2'],
    ['the address to listen on', 'http: { host: "${V}" }', 'localhost'],
    ['the state directory', 'stateDir: "${V}"', '/var/lib/gatehouse'],
    ['a number', 'limits: { requestBytes: "${V}" }', '1000000'],
    ['a choice', 'naming: { tools: "${V}" }', 'conflict'],
  ])('does not collect values like %s', (_what, text, value) => {
    expect(secretsOf(text, { V: value })).toEqual([]);
  });

  it('does not collect defaults of the file', () => {
    expect(secretsOf('mcpServers: { a: { command: node, args: ["${V:-in-the-file}"] } }', {})).toEqual([]);
  });

  it('collects values of overrides, alone or in a mapping', () => {
    const env = {
      GATEHOUSE__MCPSERVERS__A__HEADERS__AUTHORIZATION: 'Bearer one',
      GATEHOUSE__MCPSERVERS__B: '{ command: some-program, args: [--token, hunter22] }',
      GATEHOUSE__HTTP__ALLOWEDHOSTS: '[gatehouse.example.com]',
    };
    expect(secretsOf('mcpServers: { a: { url: "http://a" } }', env)).toEqual(['hunter22', 'Bearer one']);
  });

  it('collects values of a mapping or list from the environment', () => {
    const text =
      'mcpServers: { a: { url: "http://a", headers: "${H}" }, b: { command: node, args: "${L}" } }';
    expect(secretsOf(text, { H: '{ Authorization: Bearer one }', L: '[hunter22]' })).toEqual([
      'Bearer one',
      'hunter22',
    ]);
  });

  it('collects each value once', () => {
    const text = 'mcpServers: { a: { command: node, args: ["${V}", "${V}"] } }';
    expect(secretsOf(text, { V: 'hunter22' })).toEqual(['hunter22']);
  });
});
