import { compare, floors, warmUp } from '../harness/comparison.mjs';

/** Small calls, one at a time and 32 at once. The target ratios to nginx are 0.60 and 0.75. */
export async function calls(openTargets) {
  const harness = await openTargets();
  await warmUp(harness, 'tools/call', { requests: 20_000, maxMs: 6000 });
  const single = await compare(harness, 'tools/call', 1);
  const { title, ratio } = await compare(harness, 'tools/call', 32);
  return floors(
    { what: `${single.title} : nginx`, is: single.ratio('gatehouse', 'nginx'), floor: 0.48 },
    { what: `${title} : nginx`, is: ratio('gatehouse', 'nginx'), floor: 0.58 },
    { what: `${title} : direct`, is: ratio('gatehouse', 'direct'), floor: 0.45 },
    { what: `${title} : reference`, is: ratio('gatehouse', 'reference'), floor: 10 },
  );
}
