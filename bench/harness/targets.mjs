import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Caller } from './caller.mjs';
import { writeConfig } from './config-file.mjs';
import { isNginxInstalled, startNginx } from './nginx.mjs';
import { startServer, startWorker } from './processes.mjs';

const READY_TIMEOUT_MS = 30_000;

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * One backend, reached directly, through nginx where it is installed, through two gateways built on the SDK, and through
 * Gatehouse. `baseline` is another checkout of Gatehouse that is measured beside this one.
 */
export async function openTargets({ baseline }) {
  const backend = await startServer([here('../servers/lean-backend.mjs')]);
  const targets = { direct: { ...backend, toolPrefix: '', uriPrefix: '' } };
  if (isNginxInstalled())
    targets.nginx = { ...(await startNginx(backend.url)), toolPrefix: '', uriPrefix: '' };
  else console.log('nginx is not installed: the comparison with it is left out\n');
  for (const [name, file] of [
    ['reference', 'reference-gateway.mjs'],
    ['lean reference', 'lean-reference-gateway.mjs'],
  ])
    targets[name] = {
      ...(await startServer([here(`../servers/${file}`), backend.url])),
      toolPrefix: '',
      uriPrefix: '',
    };
  if (baseline) targets.baseline = await startGatehouse({ backend, root: baseline });
  targets.gatehouse = await startGatehouse({ backend });
  return { backend, targets, load: startWorker(here('load.mjs')) };
}

/** Gatehouse as users run it, in front of the lean backend and of other servers. */
export async function startGatehouse({ backend, servers = {}, limits, http, root = here('../..') }) {
  const config = {
    // Lists are compared: they contain the backend's tools and no meta tools.
    metaTools: false,
    limits,
    http,
    // The concurrency limit is above the load, so that no request waits in the queue.
    mcpServers: { bench: { url: backend.url, concurrency: 256 }, ...servers },
  };
  const gateway = await startServer([join(root, 'dist/main.js'), '--config', writeConfig(config)], {
    GATEHOUSE__HTTP__PORT: '0',
  });
  const target = { ...gateway, toolPrefix: 'bench__', uriPrefix: 'resource://bench/' };
  await untilListed(target, 'bench__echo');
  return target;
}

/** Gatehouse listens before its servers are connected. */
export async function untilListed({ url }, tool, headers) {
  const giveUpAt = performance.now() + READY_TIMEOUT_MS;
  const caller = await Caller.open(url, headers);
  for (;;) {
    const { result } = await caller.request('tools/list');
    if (result.tools.some(({ name }) => name === tool) || result.nextCursor) break;
    if (performance.now() > giveUpAt) throw new Error(`${tool} was not listed in time`);
    await sleep(50);
  }
  caller.close();
}
