import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from './config-file.mjs';
import { freePort, nginxArguments, nginxConfiguration, untilListening } from './nginx.mjs';

/** Debian installs both in a directory that may not be in the path of users. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };

/** The balancers in front of gateways at these ports: HAProxy checks their readiness, nginx retries refused connections. */
const BALANCERS = {
  haproxy: {
    version: ['-v'],
    args: (_directory, path) => ['-db', '-f', path],
    configuration: ({ port, gateways }) => `
defaults
  mode http
  timeout connect 1s
  timeout client 30s
  timeout server 30s
  retries 3
  option redispatch
  option httpchk GET /health/ready
frontend clients
  bind 127.0.0.1:${port}
  default_backend gateways
backend gateways
  default-server inter 200ms fall 2 rise 1
${gateways.map((gateway, index) => `  server g${index} 127.0.0.1:${gateway} check`).join('\n')}
`,
  },
  nginx: {
    version: ['-v'],
    args: nginxArguments,
    configuration: ({ port, gateways, directory }) =>
      nginxConfiguration(
        directory,
        `
  upstream gateways {
${gateways.map((gateway) => `    server 127.0.0.1:${gateway} max_fails=1 fail_timeout=1s;`).join('\n')}
    keepalive 32;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://gateways;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
    }
  }`,
      ),
  },
};

export const isInstalled = (name) => spawnSync(name, BALANCERS[name].version, { env }).status === 0;

/** Starts the balancer in front of gateways at these ports. */
export async function startBalancer(name, gateways) {
  const { args, configuration } = BALANCERS[name];
  const directory = temporaryDirectory();
  const port = await freePort();
  const path = join(directory, `${name}.conf`);
  writeFileSync(path, configuration({ port, gateways, directory }));
  const child = spawn(name, args(directory, path), { env, stdio: 'ignore' });
  // SIGKILL would leave the worker process of nginx behind.
  const stop = () => child.kill('SIGTERM');
  process.on('exit', stop);
  await untilListening(port);
  return { url: `http://127.0.0.1:${port}`, stop };
}
