import { Text } from 'ink';
import { padTextEnd, textWidth } from '../../client/terminal-text.js';
import type { TextLine } from '../model/text-line.js';
import { inkStyle } from './ink-style.js';

interface Props {
  readonly line: TextLine;
  /** Width of the row. A shorter line is padded with spaces, so that it overwrites the previous frame. */
  readonly width: number;
  readonly isInverse?: boolean;
}

/** One row of the screen. Its text must be printable: see `printable`. */
export function ScreenLine({ line, width, isInverse = false }: Props) {
  const usedWidth = line.reduce((sum, { text }) => sum + textWidth(text), 0);
  // A row without any text would have no height.
  const padding = padTextEnd('', width - usedWidth) || (usedWidth === 0 ? ' ' : '');
  return (
    <Text wrap="truncate" inverse={isInverse}>
      {line.map(({ text, style }, at) => (
        <Text key={at} {...inkStyle(style)}>
          {text}
        </Text>
      ))}
      {padding}
    </Text>
  );
}
