import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { escapeHtml, START_PAGE_HEADERS, startPage, type StartPageFacts } from './start-page.js';

const page = (facts: Partial<StartPageFacts> = {}): string =>
  startPage({ url: 'http://127.0.0.1:3000', needsKey: false, servers: [], ...facts });

const HOSTILE = '"><script>alert(1)</script>\'&';

describe('startPage', () => {
  it('says how to connect each client', () => {
    const text = page();
    for (const words of [
      'claude mcp add --transport http gatehouse http://127.0.0.1:3000/mcp',
      '~/.cursor/mcp.json',
      '.vscode/mcp.json',
      'claude_desktop_config.json',
      'npx @modelcontextprotocol/inspector --transport http --server-url http://127.0.0.1:3000/mcp',
    ])
      expect(text).toContain(words);
  });

  it('lists the servers with their states for operators only', () => {
    const servers = [
      { id: 'files', state: 'ready' },
      { id: 'github', state: 'retrying' },
    ];
    expect(page({ servers })).toMatch(/1 of 2 servers ready[\s\S]*files<[\s\S]*github<[^\n]*retrying/);
    expect(page({ servers: undefined })).not.toMatch(/servers ready|<table>/);
    expect(page({ servers: [] })).toContain('gatehouse init');
    expect(page({ servers: [], project: 'p' })).toContain('No server of this project is enabled');
    expect(page({ servers: 'unknown project', project: 'p' })).toContain('There is no such project');
    expect(page({ servers: undefined, project: 'p' })).not.toContain('such project');
  });

  it('lists at most 200 servers and counts the rest', () => {
    const servers = Array.from({ length: 1000 }, (_, index) => ({ id: `s${index}`, state: 'ready' }));
    const text = page({ servers });
    expect(text).toContain('and 800 more');
    expect(text.match(/<tr>/g)).toHaveLength(201);
  });

  it('escapes every text', () => {
    const text = page({
      url: `http://${HOSTILE}`,
      project: HOSTILE,
      servers: [{ id: HOSTILE, state: HOSTILE }],
    });
    expect(text).not.toContain('<script');
    expect(text).not.toContain('alert(1)</');
    expect(escapeHtml(HOSTILE)).toBe('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;');
  });

  it('refers to the key and loads nothing', () => {
    const text = page({ needsKey: true });
    expect(text).toContain('Bearer ${env:GATEHOUSE_KEY}');
    expect(text).not.toMatch(/<(script|img|link|iframe)|src=|@import|url\(/);
  });
});

describe('START_PAGE_HEADERS', () => {
  it('allow the style of the page and nothing else', () => {
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(page()) ?? [];
    const digest = createHash('sha256').update(style).digest('base64');
    expect(START_PAGE_HEADERS['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
  });
});
