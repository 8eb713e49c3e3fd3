/**
 * Port for the secret that signs list cursors. The secret does not change while the process runs. Replicas will share
 * one secret, so that a cursor of one replica is valid at the others.
 */
export abstract class CursorKey {
  /**
   * Returns the 32-byte key of one purpose, always the same one. Keys of different purposes are independent, so that a
   * cursor of one kind of list is not valid for another kind.
   */
  abstract derive(purpose: string): Buffer;
}
