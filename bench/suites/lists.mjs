import { fileURLToPath } from 'node:url';
import { compare, floors, warmUp } from '../harness/comparison.mjs';
import { startServer } from '../harness/processes.mjs';
import { startGatehouse } from '../harness/targets.mjs';

const LEAN_BACKEND = fileURLToPath(new URL('../servers/lean-backend.mjs', import.meta.url));

/** Lists of 200 and of 10,000 tools, which Gatehouse answers from memory. */
export async function lists(openTargets) {
  const harness = await openTargets();
  await warmUp(harness, 'tools/list', { requests: 3000, maxMs: 4000 });
  const { title, ratio } = await compare(harness, 'tools/list', 32);
  const many = await withManyTools(harness);
  await warmUp(many, 'first page of 10,000 tools', { requests: 500, maxMs: 4000 });
  const large = await compare(many, 'first page of 10,000 tools', 32);
  return floors(
    { what: `${title} : direct`, is: ratio('gatehouse', 'direct'), floor: 1.5 },
    { what: `${large.title} : direct`, is: large.ratio('gatehouse', 'direct'), floor: 1.5 },
  );
}

async function withManyTools({ load }) {
  const backend = await startServer([LEAN_BACKEND, '10000']);
  const direct = { ...backend, toolPrefix: '', uriPrefix: '' };
  return {
    load,
    targets: { direct, gatehouse: await startGatehouse({ backend, limits: { pageSize: 1000 } }) },
  };
}
