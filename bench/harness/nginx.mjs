import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryDirectory } from './config-file.mjs';

const START_TIMEOUT_MS = 5000;

/** Whether nginx can be started here. Without it, the comparison with nginx is left out. */
export const isNginxInstalled = () => spawnSync('nginx', ['-v']).status === 0;

/** nginx with one worker process as a plain reverse proxy with keep-alive on both sides. */
export async function startNginx(backendUrl) {
  const directory = temporaryDirectory();
  const port = await freePort();
  const path = join(directory, 'nginx.conf');
  writeFileSync(path, nginxConfiguration(directory, proxyConfiguration(port, new URL(backendUrl).host)));
  const child = spawn('nginx', nginxArguments(directory, path), { stdio: 'ignore' });
  // SIGKILL would leave the worker process behind.
  process.on('exit', () => child.kill('SIGTERM'));
  await untilListening(port);
  // The worker process does the work, not the master.
  const [worker] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'latin1').trim().split(' ');
  return { url: `http://127.0.0.1:${port}/mcp`, pid: Number(worker) };
}

/** Runs in the foreground with one worker process, and keeps all of its files in the directory. */
export const nginxConfiguration = (directory, http) => `
daemon off;
worker_processes 1;
pid ${directory}/nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${directory}/body;
  proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/fastcgi;
  uwsgi_temp_path ${directory}/uwsgi;
  scgi_temp_path ${directory}/scgi;
${http}
}
`;

export const nginxArguments = (directory, path) => [
  '-p',
  directory,
  '-c',
  path,
  '-e',
  join(directory, 'error.log'),
];

const proxyConfiguration = (port, backend) => `
  keepalive_requests 1000000;
  tcp_nodelay on;
  upstream backend {
    server ${backend};
    keepalive 256;
    keepalive_requests 1000000;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://backend;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }`;

/** A port without a listener. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

export async function untilListening(port) {
  const giveUpAt = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const isOpen = await new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (isOpen) return;
    if (performance.now() > giveUpAt) throw new Error(`nothing listened at port ${port} in time`);
    await sleep(20);
  }
}
