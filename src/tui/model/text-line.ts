import type { ServerSummary } from '../../client/admin-types.js';
import { stateTone } from '../../client/format.js';

export type TextStyle = 'plain' | 'dim' | 'bold' | 'accent' | 'good' | 'busy' | 'bad' | 'match';

export interface TextSpan {
  readonly text: string;
  readonly style: TextStyle;
}

/** One row of the screen: its spans from left to right. */
export type TextLine = readonly TextSpan[];

/** A part of a text in which matches of a search are highlighted. */
export interface HighlightPiece {
  readonly text: string;
  readonly isMatch: boolean;
}

export const span = (text: string, style: TextStyle = 'plain'): TextSpan => ({ text, style });
export const textLine = (text: string, style: TextStyle = 'plain'): TextLine => [span(text, style)];

const TONE_STYLES = { good: 'good', busy: 'busy', bad: 'bad', off: 'dim' } as const;

export const stateStyle = (state: ServerSummary['state']): TextStyle => TONE_STYLES[stateTone(state)];
