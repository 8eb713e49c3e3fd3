/** Something that can be killed without waiting for it. */
interface Killable {
  signal(signal: NodeJS.Signals): void;
}

/** Every process group that may still have members. */
export const liveGroups = new Set<Killable>();

/** For the moment the gateway's own process ends: synchronous, because nothing else runs then. */
export function killAllChildren(): void {
  for (const group of liveGroups) group.signal('SIGKILL');
}
