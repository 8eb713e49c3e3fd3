import { createHash } from 'node:crypto';
import { VERSION } from '../version.js';
import { CLIENT_NAMES, clientSetup, endpointUrl, type ClientSetup } from './client-setup.js';

interface PageServer {
  readonly id: string;
  readonly state: string;
}

/** What the page shows. */
export interface StartPageFacts {
  /** The URL of the gateway, without a path. */
  readonly url: string;
  /** The project that the request named. */
  readonly project?: string | undefined;
  readonly needsKey: boolean;
  /**
   * The servers of the project, or all servers. Undefined if the client may not read `/health`. Such a client does not get
   * `'unknown project'` either, because that would reveal which projects exist.
   */
  readonly servers: readonly PageServer[] | 'unknown project' | undefined;
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1 small { font-weight: normal; opacity: 0.7; }
h2 { margin: 2rem 0 0.5rem; font-size: 1.2rem; }
h3 { margin: 1.2rem 0 0.2rem; font-size: 1rem; }
p { margin: 0.3rem 0; }
pre { margin: 0.3rem 0; padding: 0.6rem 0.8rem; overflow-x: auto; border: 1px solid #8886; border-radius: 6px; }
table { border-collapse: collapse; }
td, th { padding: 0.2rem 1.5rem 0.2rem 0; text-align: left; }
.ready { color: #18794e; }
.other { color: #b54708; }
@media (prefers-color-scheme: dark) { .ready { color: #4cc38a; } .other { color: #ffb224; } }
`;

/** With these headers, the browser loads nothing, runs no script, and applies only `STYLE`. */
export const START_PAGE_HEADERS = {
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  vary: 'accept, origin',
};

/** Maximum number of servers in the table, so that the page stays small. Further servers are only counted. */
const MAX_LISTED = 200;

/** The page for a person who opens the gateway in a browser. */
export function startPage(facts: StartPageFacts): string {
  const target = { ...facts, stdioCommand: ['gatehouse'] as const };
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gatehouse</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Gatehouse <small>${escapeHtml(VERSION)}</small></h1>
<p>One MCP endpoint in front of many Model Context Protocol servers:</p>
<pre>${escapeHtml(endpointUrl(facts.url, facts.project))}</pre>
<h2>Status</h2>
${statusHtml(facts)}
<h2>Connect a client</h2>
<p>Or run <code>gatehouse connect</code> with the name of the client.</p>
${CLIENT_NAMES.map((name) => setupHtml(clientSetup(name, target))).join('\n')}
<h2>More</h2>
<p><a href="/admin/docs">Admin API</a> · <a href="/health">Health</a> · <a href="/metrics">Metrics</a> · <a href="/admin/docs/runbooks">Runbooks</a></p>
<p>In a terminal: <code>gatehouse status</code>, <code>gatehouse tui</code></p>
</body>
</html>
`;
}

function statusHtml({ servers, project }: StartPageFacts): string {
  if (!servers)
    return '<p>Shown only to requests from the same machine or with the admin token. <code>gatehouse status</code> shows it in a terminal.</p>';
  if (servers === 'unknown project')
    return '<p>There is no such project. <code>gatehouse projects ls</code> lists them.</p>';
  if (servers.length === 0 && project !== undefined) return '<p>No server of this project is enabled.</p>';
  if (servers.length === 0)
    return '<p>No server is enabled. <code>gatehouse init</code> writes a configuration file with examples.</p>';
  const ready = servers.filter(({ state }) => state === 'ready').length;
  const rows = servers
    .slice(0, MAX_LISTED)
    .map(
      ({ id, state }) =>
        `<tr><td>${escapeHtml(id)}</td><td class="${state === 'ready' ? 'ready' : 'other'}">${escapeHtml(state)}</td></tr>`,
    );
  const more = servers.length > MAX_LISTED ? `<p>and ${servers.length - MAX_LISTED} more</p>` : '';
  return `<p>${ready} of ${servers.length} servers ready</p>
<table><tr><th>Server</th><th>State</th></tr>${rows.join('')}</table>${more}`;
}

function setupHtml({ title, command, file, config, note }: ClientSetup): string {
  return [
    `<h3>${escapeHtml(title)}</h3>`,
    command === undefined ? '' : `<pre>${escapeHtml(command)}</pre>`,
    config === undefined
      ? ''
      : `<p>${command === undefined ? 'In' : 'Or in'} <code>${escapeHtml(file ?? '')}</code>:</p>
<pre>${escapeHtml(JSON.stringify(config, null, 2))}</pre>`,
    note === undefined ? '' : `<p>${escapeHtml(note)}</p>`,
  ]
    .filter((part) => part !== '')
    .join('\n');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for the content of elements and for quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
