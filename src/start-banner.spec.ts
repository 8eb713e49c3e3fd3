import { join, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { configOf } from '../test/kit/config.js';
import { bannerText, firstSyncText, programName, targetOptions } from './start-banner.js';

const URL = 'http://127.0.0.1:3000';
const COMMANDS = { program: 'gatehouse', options: ' --config g.yaml' };
const SERVERS = { mcpServers: { a: { command: 'a' } } };

const banner = (content: object, file: { path: string; mustExist: boolean; exists: boolean }): string =>
  bannerText({ url: URL, file, config: configOf(content), commands: COMMANDS });

describe('bannerText', () => {
  it('names the endpoint, the file, the admin page, the token file and the terminal UI', () => {
    expect(banner(SERVERS, { path: 'g.yaml', mustExist: true, exists: true }).split('\n')).toEqual([
      '  endpoint     http://127.0.0.1:3000/mcp (open http://127.0.0.1:3000 in a browser to connect a client)',
      `  config file  ${resolve('g.yaml')}`,
      '  admin page   http://127.0.0.1:3000/admin/docs',
      `  admin token  ${resolve('.gatehouse/admin-token')}`,
      '  terminal UI  gatehouse tui --config g.yaml',
      '',
    ]);
  });

  it('says how to add a server without a file, and to a file without servers', () => {
    const missing = banner({}, { path: 'config/gatehouse.yaml', mustExist: false, exists: false });
    expect(missing).toContain('  config file  none; create one: gatehouse init\n');
    const empty = banner({}, { path: 'g.yaml', mustExist: false, exists: true });
    expect(empty).toContain('  servers      none; add one under mcpServers in g.yaml\n');
  });

  it('does not contain a configured admin token', () => {
    const token = 'a-configured-token';
    const text = banner({ admin: { token } }, { path: 'g.yaml', mustExist: false, exists: true });
    expect(text).toContain('  admin token  admin.token of the configuration\n');
    expect(text).not.toContain(token);
  });
});

const servers = (...states: ('ready' | 'retrying')[]) =>
  states.map((state, index) => ({ id: `s${index}`, state }));

describe('firstSyncText', () => {
  it.each([
    [servers(), ''],
    [servers('ready', 'ready'), '  servers      2 up\n'],
    [
      servers('ready', 'retrying'),
      '  servers      1 up, 1 failing: s1 (gatehouse servers ls --config g.yaml)\n',
    ],
    [
      servers(...Array.from({ length: 7 }, () => 'retrying' as const)),
      '  servers      0 up, 7 failing: s0, s1, s2, s3, s4 and 2 more (gatehouse servers ls --config g.yaml)\n',
    ],
  ])('counts %j', (given, text) => {
    expect(firstSyncText(given, COMMANDS)).toBe(text);
  });
});

describe('targetOptions', () => {
  it.each<[string, boolean, Record<string, string>, number, string]>([
    ['the default file', false, {}, 3000, ''],
    ['a file that was named', true, {}, 3000, ' --config g.yaml'],
    ['a port of the environment', false, { GATEHOUSE__HTTP__PORT: '8080' }, 8080, ` --url ${URL}`],
    ['any free port', true, {}, 0, ` --config g.yaml --url ${URL}`],
    ['another key of the environment', false, { GATEHOUSE__HTTP__MODERN: 'true' }, 3000, ''],
  ])('are what commands need with %s', (_what, mustExist, env, port, options) => {
    expect(targetOptions({ path: 'g.yaml', mustExist }, { url: URL, port, env })).toBe(options);
  });
});

describe('programName', () => {
  it.each([
    [undefined, 'gatehouse'],
    ['/usr/bin/gatehouse', 'gatehouse'],
    [join(process.cwd(), 'dist/main.js'), `node ${join('dist', 'main.js')}`],
    [join(process.cwd(), 'scripts/start.mjs'), `node ${join('dist', 'main.js')}`],
  ])('of the script %s is %s', (script, name) => {
    expect(programName(script)).toBe(name);
  });
});
