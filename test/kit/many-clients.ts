import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { resolve } from 'node:path';
import { exitOf, killAfterTest } from './processes.js';
import { until, within } from './until.js';

const READERS = resolve('test/kit/many-clients-process.mjs');

/** What a process of this user may ever have open. */
export function maxOpenFiles(): number {
  const limit = execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim();
  return limit === 'unlimited' ? 1_000_000 : Number(limit);
}

/** For `spawn`: this program, with room for as many open files as this user may have. */
export const withMaxOpenFiles = (...program: readonly string[]): [string, ...string[]] => [
  'sh',
  '-c',
  'ulimit -n "$(ulimit -Hn)" && exec "$0" "$@"',
  process.execPath,
  ...program,
];

interface ClientReport {
  readonly open: number;
  /** How many clients got so many updates, by that number. */
  readonly counts: Readonly<Record<string, number>>;
  /** What every client got, if all got the same; the notes of its updates in order. */
  readonly notes: readonly string[] | undefined;
  readonly error?: string;
}

/** Many clients in a process of their own: each has a session, is subscribed to one resource and reads its stream. */
export class ManyClients {
  private constructor(
    private readonly child: ChildProcess,
    private readonly url: string,
  ) {}

  static async open(url: string, uri: string, count: number): Promise<ManyClients> {
    const [command, ...args] = withMaxOpenFiles(READERS);
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    killAfterTest(child, exitOf(child));
    const crowd = new ManyClients(child, url);
    await crowd.ask({ job: 'open', url, uri, count }, 60_000);
    return crowd;
  }

  /** Waits until everybody has so many updates; gives what they got. */
  async untilReceived(updates: number): Promise<ClientReport> {
    let told: ClientReport | undefined;
    await until(
      `everybody has ${updates} updates`,
      async () => {
        told = await this.ask({ job: 'tell' });
        return Object.keys(told.counts).every((count) => Number(count) >= updates);
      },
      20_000,
    ).catch((error: Error) => {
      throw new Error(`${error.message}; they have ${JSON.stringify(told?.counts)}`);
    });
    return told!;
  }

  /** All but so many end their sessions. */
  async endSessions(but = 0): Promise<void> {
    await this.ask({ job: 'leave', url: this.url, but }, 30_000);
  }

  private async ask(job: object, timeoutMs?: number): Promise<ClientReport> {
    const answer = new Promise<ClientReport>((done) =>
      this.child.once('message', (told) => done(told as ClientReport)),
    );
    this.child.send(job);
    const told = await within('the crowd', answer, timeoutMs);
    if (told.error) throw new Error(told.error);
    return told;
  }
}
