/**
 * Makes one program of what the compiler wrote. Started from some 1,500 files, most of its time went into finding and
 * reading them: bundled, the gateway listens in a third of the time.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

const OUT = 'dist';

/** Optional companions of Nest that are not installed, and packages that look for their own files. */
const EXTERNAL =
  /^(@nestjs\/(websockets|platform-express|axios|mongoose|sequelize|typeorm|swagger)|@fastify\/(view|multipart|static)$|@grpc\/|kafkajs|mqtt|amqp|ioredis|@nats-io|@mikro-orm|mongoose|sequelize|typeorm|@prisma|cache-manager|pino-pretty|swagger-ui-dist|reflect-metadata|@opentelemetry\/|react-devtools-core)/;

/** Packages that hold a second, slower copy of themselves for those who write components. */
const REACT = /node_modules[/\\](react|react-reconciler|scheduler)[/\\].*\.js$/;

/** CommonJS packages in the bundle still expect these; and metadata must be there before the first decorator. */
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

// A gateway may be starting from what is there: the new chunks come first, and the old ones go last.
mkdirSync(OUT, { recursive: true });
const entryLast = outputFiles.toSorted((a, b) => Number(isEntry(a)) - Number(isEntry(b)));
for (const { path, contents } of entryLast) writeFileSync(path, contents);
const current = new Set(outputFiles.map(({ path }) => basename(path)));
for (const name of readdirSync(OUT)) if (!current.has(name)) rmSync(join(OUT, name), { recursive: true });

function isEntry({ path }) {
  return basename(path) === 'main.js';
}
