type TypedArray = Uint8Array | Uint16Array | Uint32Array;

/** The array itself if it has room for that many, else one of at least twice its length that holds the same. */
export function withRoomFor<T extends TypedArray>(array: T, length: number): T {
  if (length <= array.length) return array;
  const larger = new (array.constructor as new (length: number) => T)(Math.max(length, 2 * array.length));
  larger.set(array);
  return larger;
}
