/**
 * Bundles the compiler's output. Without the bundle a start reads some 1,500 files; with it the gateway listens in a third
 * of the time (docs/decisions/0006).
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

const OUT = 'dist';

/** Optional dependencies of Nest that are not installed, and packages that read their own files. */
const EXTERNAL =
  /^(@nestjs\/(websockets|platform-express|axios|mongoose|sequelize|typeorm|swagger)|@fastify\/(view|multipart|static)$|@grpc\/|kafkajs|mqtt|amqp|ioredis|@nats-io|@mikro-orm|mongoose|sequelize|typeorm|@prisma|cache-manager|pino-pretty|swagger-ui-dist|reflect-metadata|@opentelemetry\/|react-devtools-core)/;

/** Packages with a slower development build. */
const REACT = /node_modules[/\\](react|react-reconciler|scheduler)[/\\].*\.js$/;

/** Globals of CommonJS packages in the bundle; reflect-metadata must be loaded before the first decorator runs. */
const BANNER = [
  "import 'reflect-metadata';",
  "import { createRequire as __makeRequire } from 'node:module';",
  "import { fileURLToPath as __toPath } from 'node:url';",
  "import { dirname as __dirOf } from 'node:path';",
  'const require = __makeRequire(import.meta.url);',
  'const __filename = __toPath(import.meta.url);',
  'const __dirname = __dirOf(__filename);',
].join('');

const { outputFiles } = await build({
  entryPoints: { main: 'build/main.js' },
  outdir: OUT,
  write: false,
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  mainFields: ['module', 'main'],
  sourcemap: true,
  loader: { '.md': 'text' },
  logLevel: 'warning',
  banner: { js: BANNER },
  plugins: [
    {
      name: 'external',
      setup(bundler) {
        bundler.onResolve({ filter: /^[^./]/ }, ({ path }) =>
          EXTERNAL.test(path) ? { path, external: true } : undefined,
        );
      },
    },
    {
      name: 'react for production',
      setup(bundler) {
        bundler.onLoad({ filter: REACT }, ({ path }) => ({
          contents: readFileSync(path, 'utf8').replaceAll('process.env.NODE_ENV', '"production"'),
        }));
      },
    },
  ],
});

// A gateway may be starting from this directory: new chunks are written first, old ones are removed last.
mkdirSync(OUT, { recursive: true });
const entryLast = outputFiles.toSorted((a, b) => Number(isEntry(a)) - Number(isEntry(b)));
for (const { path, contents } of entryLast) writeFileSync(path, contents);
const current = new Set(outputFiles.map(({ path }) => basename(path)));
for (const name of readdirSync(OUT)) if (!current.has(name)) rmSync(join(OUT, name), { recursive: true });

function isEntry({ path }) {
  return basename(path) === 'main.js';
}
