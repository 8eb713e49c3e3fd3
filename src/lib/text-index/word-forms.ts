/** A shorter base is ignored: `us` is no form of `used`. */
const MIN_LENGTH = 3;
const ENGLISH_WORD = /^[a-z]{3,}$/;
const VOWEL = /[aeiouy]/;
const SIBILANT = /(?:[sxz]|[cs]h)$/;
const CONSONANT_Y = /[^aeiou]y$/;
/** One vowel before a last consonant that may be doubled: `plan`, `commit`. */
const DOUBLING = /[^aeiou][aeiou][bdgklmnprt]$/;
const DOUBLED = /([bdgklmnprt])\1$/;

/**
 * The other inflected forms of an English word: plural, third person, past and participle. By spelling rules alone, so
 * some forms are no words, and occur in no index.
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

/** The word itself, and the words of which it may be an inflected form. */
function basesOf(word: string): string[] {
  if (/(?:ies|ied)$/.test(word)) return [word, `${word.slice(0, -3)}y`, word.slice(0, -1)];
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
