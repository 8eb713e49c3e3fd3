// The SDKs of this suite: how their programs are installed, and how they are run.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** Below the ignored folder of build results; kept between runs. */
const CACHE = fileURLToPath(new URL('../../build/interop/', import.meta.url));

const source = (...path) => join(HERE, ...path);
const cache = (...path) => join(CACHE, ...path);
const run = (command, args, cwd) =>
  promisify(execFile)(command, args, { cwd, maxBuffer: 1 << 26, timeout: 1_200_000 });

/** Runs a step again only if one of the files it depends on has changed since it succeeded. */
async function once(id, files, step) {
  const digest = createHash('sha256');
  for (const file of files) digest.update(readFileSync(source(id, file)));
  const mark = cache(`${id}.installed`);
  const wanted = digest.digest('hex');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return;
  mkdirSync(CACHE, { recursive: true });
  await step();
  writeFileSync(mark, wanted);
}

/** Of servers that offer both eras, and ask clients and send updates only as in 2025. */
const SERVED_AS_2025 = { era: '2025' };

const BOTH_ERAS = ['2025', '2026'];

const python = (id, title, { eras = ['2025'], settings = {} } = {}) => {
  const interpreter = cache(id, 'bin', 'python');
  return {
    id,
    title,
    toolchain: ['python3', '--version'],
    install: () =>
      once(id, ['requirements.txt'], async () => {
        rmSync(cache(id), { recursive: true, force: true });
        await run('python3', ['-m', 'venv', cache(id)]);
        await run(interpreter, [
          '-m',
          'pip',
          'install',
          '-q',
          '--no-deps',
          '-r',
          source(id, 'requirements.txt'),
        ]);
      }),
    client: { command: interpreter, args: [source(id, 'client.py')] },
    server: { command: interpreter, args: [source(id, 'server.py')] },
    eras,
    modes: ['http', 'stateless', 'stdio'],
    settings,
  };
};

export const NODE = {
  id: 'node',
  title: 'TypeScript 1.32',
  toolchain: ['node', '--version'],
  install: () => undefined,
  client: { command: process.execPath, args: [source('node', 'client.mjs')] },
  server: { command: process.execPath, args: [source('node', 'server.mjs')] },
  eras: ['2025'],
  modes: ['http', 'stateless', 'stdio'],
};

/** Its server is only the reference server of 2026; the columns of servers are about servers of 2025. */
export const NODE_2 = {
  id: 'node-2',
  title: 'TypeScript 2.4',
  toolchain: ['node', '--version'],
  install: () => undefined,
  client: { command: process.execPath, args: [source('node-2', 'client.mjs')] },
  server: { command: process.execPath, args: [source('node-2', 'server.mjs')] },
  eras: BOTH_ERAS,
  modes: [],
  settings: { era: '2026' },
};

const GO = {
  id: 'go',
  title: 'Go 1.8',
  toolchain: ['go', 'version'],
  install: () =>
    once('go', ['go.mod', 'go.sum', 'client/main.go', 'server/main.go'], async () => {
      mkdirSync(cache('go'), { recursive: true });
      await run('go', ['build', '-trimpath', '-o', cache('go/'), './...'], source('go'));
    }),
  client: { command: cache('go', 'client') },
  server: { command: cache('go', 'server') },
  eras: BOTH_ERAS,
  modes: ['http', 'json', 'stateless', 'stdio'],
  logsOnSharedStream: ['json'],
  idleLimitModes: ['http'],
};

const RUST = {
  id: 'rust',
  title: 'Rust 3.8',
  toolchain: ['cargo', '--version'],
  install: () =>
    once('rust', ['Cargo.toml', 'Cargo.lock', 'src/bin/client.rs', 'src/bin/server.rs'], () =>
      run('cargo', ['build', '-q', '--locked', '--target-dir', cache('rust')], source('rust')),
    ),
  client: { command: cache('rust', 'debug', 'client') },
  server: { command: cache('rust', 'debug', 'server') },
  eras: BOTH_ERAS,
  modes: ['http', 'stateless', 'stdio'],
  settings: SERVED_AS_2025,
  logsOnSharedStream: ['http'],
  idleLimitModes: ['http'],
};

const javaProgram = (name) => ({
  command: 'java',
  args: ['-cp', `${cache('java', 'classes')}:${cache('java', 'lib', '*')}`, name],
});

const JAVA = {
  id: 'java',
  title: 'Java 2.1',
  toolchain: ['mvn', '--version'],
  install: () =>
    once('java', ['pom.xml', 'Client.java', 'Server.java'], async () => {
      const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
      await run('mvn', ['-q', '-B', plugin, `-DoutputDirectory=${cache('java', 'lib')}`], source('java'));
      const files = ['Client.java', 'Server.java'].map((file) => source('java', file));
      const classPath = cache('java', 'lib', '*');
      await run('javac', ['-proc:none', '-cp', classPath, '-d', cache('java', 'classes'), ...files]);
    }),
  client: javaProgram('Client'),
  server: javaProgram('Server'),
  eras: ['2025'],
  modes: ['http', 'stateless', 'stdio'],
};

// Servers of this SDK never announce `subscribe`.
const PYTHON_1 = python('python-1', 'Python 1.30', { settings: { subscribe: 'try' } });
const PYTHON_2 = python('python-2', 'Python 2.3', { eras: BOTH_ERAS, settings: SERVED_AS_2025 });
const FASTMCP = python('fastmcp', 'FastMCP 4.1', { eras: BOTH_ERAS, settings: SERVED_AS_2025 });

export const SDKS = [NODE, NODE_2, PYTHON_1, PYTHON_2, FASTMCP, GO, RUST, JAVA];

/** Whether the toolchain can be run. */
export const isInstalled = ({ toolchain: [command, ...args] }) =>
  run(command, args).then(
    () => true,
    () => false,
  );
