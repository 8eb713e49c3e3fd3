/** Minimum length of a base form. A shorter one is usually an unrelated word: `used` without `ed` is `us`. */
const MIN_LENGTH = 3;
const ENGLISH_WORD = /^[a-z]{3,}$/;
const VOWEL = /[aeiouy]/;
const SIBILANT = /(?:[sxz]|[cs]h)$/;
const CONSONANT_Y = /[^aeiou]y$/;
/** Matches a word whose last consonant may be doubled, because a single vowel is before it: `plan`, `commit`. */
const DOUBLING = /[^aeiou][aeiou][bdgklmnprt]$/;
const DOUBLED = /([bdgklmnprt])\1$/;

/**
 * The other inflected forms of an English word: plural, third person, past and participle. They are formed by spelling
 * rules alone. So some of them are not English words, which does no harm, because no indexed text contains them.
 */
export function wordFormsOf(word: string): string[] {
  if (!ENGLISH_WORD.test(word)) return [];
  const forms = new Set<string>();
  for (const base of basesOf(word)) {
    if (base.length < MIN_LENGTH) continue;
    for (const form of inflect(base)) forms.add(form);
  }
  forms.delete(word);
  return [...forms];
}

/** The word itself, and the base forms of which it may be an inflected form. */
function basesOf(word: string): string[] {
  if (/(?:ies|ied)$/.test(word)) return [word, `${word.slice(0, -3)}y`, word.slice(0, -1)];
  // Words that end with `ss`, `us`, `as` or `is` are rarely plurals.
  if (/[^suai]s$/.test(word)) {
    const singular = word.slice(0, -1);
    const isSibilant = singular.endsWith('e') && SIBILANT.test(singular.slice(0, -1));
    return isSibilant ? [word, singular, singular.slice(0, -1)] : [word, singular];
  }
  const [suffix] = /(?:ing|ed)$/.exec(word) ?? [];
  if (suffix === undefined) return [word];
  const stem = word.slice(0, -suffix.length);
  if (!VOWEL.test(stem)) return [word];
  return DOUBLED.test(stem) ? [word, stem, stem.slice(0, -1)] : [word, stem, `${stem}e`];
}

function inflect(base: string): string[] {
  if (base.endsWith('e')) return [base, `${base}s`, `${base}d`, `${base.slice(0, -1)}ing`];
  if (CONSONANT_Y.test(base)) {
    const stem = base.slice(0, -1);
    return [base, `${stem}ies`, `${stem}ied`, `${base}ing`];
  }
  const plural = SIBILANT.test(base) ? `${base}es` : `${base}s`;
  const regular = [base, plural, `${base}ed`, `${base}ing`];
  if (!DOUBLING.test(base)) return regular;
  const doubled = base + base.at(-1)!;
  return [...regular, `${doubled}ed`, `${doubled}ing`];
}
