import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { ScriptedServer } from './scripted-server.js';
import { ScriptedLink } from './scripted-link.js';

/** A relay process, connected by a socket. */
export class StdioLink extends ScriptedLink {
  pid: number | undefined;
  grandchild: number | undefined;

  constructor(
    private readonly socket: Socket,
    private readonly scripted: ScriptedServer,
  ) {
    super();
    // A killed relay resets its socket, which the line reader reports as an error too.
    createInterface({ input: socket })
      .on('line', (line) => this.read(line))
      .on('error', () => {});
    socket.on('error', () => {});
    socket.on('close', () => this.closed());
  }

  send(text: string): void {
    if (this.isOpen) this.socket.write(`${text}\n`);
  }

  close(): void {
    this.socket.destroy();
  }

  private read(line: string): void {
    if (this.pid === undefined) Object.assign(this, JSON.parse(line));
    else void this.scripted.receive(line, this, (text) => this.send(text));
  }
}
