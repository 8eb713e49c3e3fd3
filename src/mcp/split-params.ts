import type { Member } from '../lib/json-text/json-text.js';
import { envelopeText, nextHopMeta, type RequestEnvelope } from './envelope.js';

/** Params of which `_meta` was taken out, because each era of servers gets another one. */
export interface SplitParams {
  /** The text of the other members, without the closing brace. */
  readonly open: string;
  readonly meta: string;
}

/**
 * `ownParams` for params of which `_meta` is taken out. Undefined if there are other members than `key`, `arguments` and one
 * `_meta`, because more may have to be checked, removed or replaced then, or if `_meta` is the first member.
 */
export function splitOwnParams(
  text: string,
  key: string,
  ownValue: string,
  members: readonly Member[],
): SplitParams | undefined {
  let open = '';
  let copiedTo = 0;
  let meta: string | undefined;
  let previousEnd = 0;
  for (const { key: memberKey, start, end } of members) {
    if (memberKey === key) {
      open += text.slice(copiedTo, start) + JSON.stringify(ownValue);
      copiedTo = end;
    } else if (memberKey === '_meta' && meta === undefined && previousEnd > 0) {
      meta = text.slice(start, end);
      // The comma before the member is removed.
      open += text.slice(copiedTo, previousEnd);
      copiedTo = end;
    } else if (memberKey !== 'arguments') return undefined;
    previousEnd = end;
  }
  if (meta === undefined) return undefined;
  open += text.slice(copiedTo, previousEnd);
  return { open, meta };
}

/** `withoutEnvelope` for params of which `_meta` is taken out. */
export function legacyParams({ open, meta }: SplitParams): string {
  const nextMeta = nextHopMeta('', meta);
  return nextMeta === '{}' ? `${open}}` : `${open},"_meta":${nextMeta}}`;
}

/** `withEnvelope` for params of which `_meta` is taken out. */
export const modernParams = ({ open, meta }: SplitParams, envelope: RequestEnvelope): string =>
  `${open},"_meta":${nextHopMeta(envelopeText(envelope), meta)}}`;
