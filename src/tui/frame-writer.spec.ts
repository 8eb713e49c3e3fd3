import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { until } from '../../test/kit/until.js';
import { FrameWriter } from './frame-writer.js';

class FakeTerminal extends EventEmitter {
  columns = 20;
  rows = 3;
  written: string[] = [];

  write(text: string): void {
    this.written.push(text);
  }
}

function openWriter() {
  const terminal = new FakeTerminal();
  const writer = new FrameWriter(terminal);
  writer.open();
  onCleanup(() => writer.close());
  terminal.written = [];
  const show = async (frame: string): Promise<string> => {
    writer.write(frame);
    const [text] = await until(
      'the frame is show',
      () => terminal.written.length > 0 && terminal.written.splice(0),
    );
    return text!;
  };
  return { terminal, writer, show };
}

const at = (row: number, text: string): string => `\x1b[${row};1H\x1b[0m\x1b[K${text}`;

describe('FrameWriter', () => {
  it('writes each row at its position, and later only changed rows', async () => {
    const { show } = openWriter();
    expect(await show('a\nb\nc')).toContain(at(1, 'a') + at(2, 'b') + at(3, 'c'));
    const second = await show('a\nB\nc');
    expect(second).toContain(at(2, 'B'));
    expect(second).not.toContain('a');
    expect(second).not.toMatch(/c/);
  });

  it('clears removed rows and never writes below the last row of the terminal', async () => {
    const { show } = openWriter();
    await show('a\nb\nc');
    expect(await show('a')).toContain(at(2, '') + at(3, ''));
    expect(await show('1\n2\n3\n4\n5')).not.toContain('4');
  });

  it('shows only the last of several frames', async () => {
    const { writer, show } = openWriter();
    writer.write('first');
    expect(await show('second')).not.toContain('first');
  });

  it('rewrites all rows after a resize and forwards the event', async () => {
    const { terminal, writer, show } = openWriter();
    await show('a\nb');
    let forwarded = 0;
    writer.on('resize', () => forwarded++);
    terminal.emit('resize');
    expect([terminal.written.splice(0), forwarded]).toEqual([['\x1b[2J'], 1]);
    expect(await show('a\nb')).toContain(at(1, 'a') + at(2, 'b'));
  });

  it('restores the screen once and drops a pending frame', () => {
    const { terminal, writer } = openWriter();
    writer.write('late');
    writer.close();
    writer.close();
    expect(terminal.written).toEqual(['\x1b[?25h\x1b[?1049l']);
    expect(terminal.listenerCount('resize')).toBe(0);
  });
});
