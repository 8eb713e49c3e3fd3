import { compare, warmUp } from '../comparison.mjs';

/** Small calls, one after the other and many at once. */
export async function calls(open) {
  const stage = await open();
  await warmUp(stage, 'tools/call', 20_000, 6000);
  await compare(stage, 'tools/call', 1);
  const { title, ratio } = await compare(stage, 'tools/call', 32);
  return [
    { what: `${title} : direct`, is: ratio('gatehouse', 'direct'), floor: 0.45 },
    { what: `${title} : reference`, is: ratio('gatehouse', 'reference'), floor: 10 },
  ];
}
