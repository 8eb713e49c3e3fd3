import { Text } from 'ink';
import { padEnd, widthOf } from '../../client/text-width.js';
import type { TextLine } from '../model/text-line.js';
import { styleOf } from './look.js';

interface Props {
  readonly line: TextLine;
  /** Exactly so wide: what is shorter is filled up, so that nothing of what was there before shines through. */
  readonly width: number;
  readonly isInverse?: boolean;
}

/** One row of the screen. Text in it must be printable already. */
export function Line({ line, width, isInverse = false }: Props) {
  const used = line.reduce((sum, { text }) => sum + widthOf(text), 0);
  return (
    <Text wrap="truncate" inverse={isInverse}>
      {line.map(({ text, look }, at) => (
        <Text key={at} {...styleOf(look)}>
          {text}
        </Text>
      ))}
      {padEnd('', width - used) || (used === 0 ? ' ' : '')}
    </Text>
  );
}
