import { Text } from 'ink';
import { padTextEnd, textWidth } from '../../client/terminal-text.js';
import type { TextLine } from '../model/text-line.js';
import { inkStyle } from './ink-style.js';

interface Props {
  readonly line: TextLine;
  /** Exact width: a shorter line is padded, so that it overwrites the previous frame. */
  readonly width: number;
  readonly isInverse?: boolean;
}

/** One row of the screen. Its text must be printable already. */
export function ScreenLine({ line, width, isInverse = false }: Props) {
  const used = line.reduce((sum, { text }) => sum + textWidth(text), 0);
  return (
    <Text wrap="truncate" inverse={isInverse}>
      {line.map(({ text, style }, at) => (
        <Text key={at} {...inkStyle(style)}>
          {text}
        </Text>
      ))}
      {padTextEnd('', width - used) || (used === 0 ? ' ' : '')}
    </Text>
  );
}
