/** In bytes of UTF-8, because that is what a URI takes wherever it is kept or sent. */
export const LONGEST_URI = 8192;

/** Whether nobody may ask for it. */
export const isTooLong = (uri: string): boolean => Buffer.byteLength(uri) > LONGEST_URI;
