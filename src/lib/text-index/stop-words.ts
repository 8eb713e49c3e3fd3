/** English function words. They belong to the phrasing of a query and do not name what is searched for. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a about all am an and any are as at be been being but by can could did do does for from had has have how i if in into ' +
    'is it its let me my of on or our please so some than that the their them then there these they this those to us want ' +
    'was we were what when where which who whom whose why will with would you your'
  ).split(' '),
);

export const isStopWord = (word: string): boolean => STOP_WORDS.has(word);
