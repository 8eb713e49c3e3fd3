import { compare } from '../comparison.mjs';

/** The list of 200 tools. */
export async function lists(stage) {
  const { title, ratio } = await compare(stage, 'tools/list', 32);
  return [{ what: `${title} : direct`, is: ratio('gatehouse', 'direct'), floor: 1.5 }];
}
