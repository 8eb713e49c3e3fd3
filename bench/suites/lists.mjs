import { compare, warmUp } from '../comparison.mjs';

/** The list of 200 tools, which Gatehouse answers from memory. */
export async function lists(open) {
  const stage = await open();
  await warmUp(stage, 'tools/list', 3000, 4000);
  const { title, ratio } = await compare(stage, 'tools/list', 32);
  return [{ what: `${title} : direct`, is: ratio('gatehouse', 'direct'), floor: 1.5 }];
}
