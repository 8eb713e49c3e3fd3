export type TextStyle = 'plain' | 'dim' | 'bold' | 'accent' | 'good' | 'busy' | 'bad' | 'match';

export interface TextSpan {
  readonly text: string;
  readonly style: TextStyle;
}

/** One row of the screen, from left to right. */
export type TextLine = readonly TextSpan[];

/** A part of a searched text. */
export interface HighlightPiece {
  readonly text: string;
  readonly isMatch: boolean;
}

export const span = (text: string, style: TextStyle = 'plain'): TextSpan => ({ text, style });
export const textLine = (text: string, style: TextStyle = 'plain'): TextLine => [span(text, style)];
