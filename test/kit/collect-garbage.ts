import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const ROUNDS = 5;

/** Collects all garbage, including objects that finalizers release. */
export async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let round = 0; round < ROUNDS; round++) {
    collect();
    await pause(20);
  }
}
