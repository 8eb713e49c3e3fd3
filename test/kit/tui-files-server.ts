import { ScriptedServer, text } from './scripted-server/scripted-server.js';

interface File {
  readonly uri: string;
  readonly name: string;
  readonly [field: string]: unknown;
}

/** A malicious file name: clears the screen, sets the window title and reverses the text direction. */
export const HOSTILE_NAME = '\x1b[2J\x1b]0;owned\x07\u202egol.ppa';

const FILES: readonly File[] = [
  {
    uri: 'file:///logs/app.log',
    name: 'app.log',
    title: 'Application log',
    description: 'What the application did, newest last.',
    mimeType: 'text/plain',
    size: 48_211,
    annotations: { audience: ['user'], priority: 0.8 },
  },
  { uri: 'file:///logs/error.log', name: 'error.log', mimeType: 'text/plain', size: 512 },
  { uri: 'file:///reports/2026-q1.pdf', name: 'Q1 report', mimeType: 'application/pdf', size: 1_840_225 },
];

/** A server with files as resources, a template, a tool that reports progress and a tool that fails. */
export async function filesServer(): Promise<ScriptedServer & { readonly files: File[] }> {
  const files = [...FILES];
  const server = await ScriptedServer.start();
  server
    .on('initialize', () => ({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {}, resources: { listChanged: true, subscribe: true } },
      serverInfo: { name: 'files', version: '1.4.2' },
    }))
    .on('resources/list', () => ({ resources: files }))
    .on('resources/templates/list', () => ({
      resourceTemplates: [
        { uriTemplate: 'file:///logs/{name}.log', name: 'log', description: 'The log of one service' },
      ],
    }))
    .on('resources/subscribe', () => ({}))
    .on('resources/unsubscribe', () => ({}))
    .on('resources/read', ({ params }) => {
      const uri = String(params['uri']);
      if (uri.endsWith('.pdf'))
        return { contents: [{ uri, blob: Buffer.from('%PDF-1.7\0').toString('base64') }] };
      return {
        contents: [{ uri, mimeType: 'text/plain', text: `12:00 started\n12:01 \x1b[31mready\x1b[0m\n` }],
      };
    })
    .tool('index', async (call) => {
      const token = (call.params['_meta'] as { progressToken?: unknown } | undefined)?.progressToken;
      if (token !== undefined)
        for (const progress of [1, 2, 3]) {
          call.notify('notifications/progress', {
            progressToken: token,
            progress,
            total: 4,
            message: `file ${progress}`,
          });
          await new Promise((resolve) => setTimeout(resolve, 30));
        }
      return text('4 files');
    })
    .tool('fail', () => ({ ...text('no such file'), isError: true }));
  return Object.assign(server, { files });
}
