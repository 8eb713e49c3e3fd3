import { execFileSync } from 'node:child_process';

/** Builds `dist/` once before any test, incrementally: nothing to do costs under a second. */
export default function build() {
  execFileSync(process.execPath, ['node_modules/typescript-native/bin/tsc', '-p', 'tsconfig.build.json'], {
    stdio: 'inherit',
  });
}
