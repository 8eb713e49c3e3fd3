import { execFileSync } from 'node:child_process';

/** Builds what the end-to-end tests run, once before any test. */
export default function build() {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
}
