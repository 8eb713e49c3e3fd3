import { Box } from 'ink';
import { detailLines } from '../model/details.js';
import { computeLayout } from '../model/layout.js';
import type { Model } from '../model/model.js';
import { span } from '../model/text-line.js';
import { ScreenLine } from './screen-line.js';

/** The pane beside the list: details of the selected row, or a preview of its contents. */
export function DetailsPane({ model }: { readonly model: Model }) {
  const { detailColumns: width, detailRows: height } = computeLayout(model);
  const { scroll, hasFocus, preview } = model.details;
  const lines = detailLines(model);
  const style = hasFocus ? 'accent' : 'dim';
  const title = preview ? ' Preview ' : ' Details ';
  const position =
    lines.length > height ? ` ${Math.min(100, Math.round(((scroll + height) / lines.length) * 100))}% ` : '';
  const [corner, end] = ['─┬─', '─'];
  const rule = '─'.repeat(Math.max(0, width - title.length - position.length - corner.length - end.length));
  const head = [
    span(corner, style),
    span(title, hasFocus ? 'bold' : 'plain'),
    span(rule, style),
    span(position),
    span(end, style),
  ];
  return (
    <Box flexDirection="column" width={width}>
      <ScreenLine line={head} width={width} />
      {Array.from({ length: height }, (_, at) => (
        <ScreenLine key={at} line={[span(' │ ', style), ...(lines[scroll + at] ?? [])]} width={width} />
      ))}
    </Box>
  );
}
