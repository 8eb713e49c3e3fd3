/** Whether a text, in small letters, has all words of a query in it; anywhere in it, so that half a word finds too. */
export function wordMatcher(query: string): (text: string) => boolean {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return (text) => words.every((word) => text.includes(word));
}
