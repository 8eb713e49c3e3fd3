import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { resolve } from 'node:path';
import { exitOf, killAfterTest } from './processes.js';
import { until, within } from './until.js';

const CLIENT_PROGRAM = resolve('test/kit/many-clients-process.mjs');

/** The hard limit of open files of this user. */
export function maxOpenFiles(): number {
  const limit = execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim();
  return limit === 'unlimited' ? 1_000_000 : Number(limit);
}

/** For `spawn`: this program with the limit of open files raised to the hard limit. */
export const withMaxOpenFiles = (...program: readonly string[]): [string, ...string[]] => [
  'sh',
  '-c',
  'ulimit -n "$(ulimit -Hn)" && exec "$0" "$@"',
  process.execPath,
  ...program,
];

interface ClientReport {
  readonly open: number;
  /** For each number of updates, how many clients have received that many. */
  readonly counts: Readonly<Record<string, number>>;
  /** The notes of the updates in order, if all clients got the same. */
  readonly notes: readonly string[] | undefined;
  readonly error?: string;
}

/** Many clients in a separate process. Each has a session, is subscribed to one resource and reads its stream. */
export class ManyClients {
  private constructor(
    private readonly child: ChildProcess,
    private readonly url: string,
  ) {}

  static open(url: string, uri: string, count: number): Promise<ManyClients> {
    return ManyClients.start('open', url, uri, count);
  }

  /** Clients that each read a listen stream instead. */
  static openListens(url: string, uri: string, count: number): Promise<ManyClients> {
    return ManyClients.start('openListens', url, uri, count);
  }

  private static async start(job: string, url: string, uri: string, count: number): Promise<ManyClients> {
    const [command, ...args] = withMaxOpenFiles(CLIENT_PROGRAM);
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    killAfterTest(child, exitOf(child));
    const clients = new ManyClients(child, url);
    await clients.ask({ job, url, uri, count }, 120_000);
    return clients;
  }

  /** Waits until every client has that many updates. */
  async untilReceived(updates: number): Promise<ClientReport> {
    let report: ClientReport | undefined;
    await until(
      `every client has ${updates} updates`,
      async () => {
        report = await this.ask({ job: 'report' });
        return Object.keys(report.counts).every((count) => Number(count) >= updates);
      },
      60_000,
    ).catch((error: Error) => {
      throw new Error(`${error.message}; they have ${JSON.stringify(report?.counts)}`);
    });
    return report!;
  }

  /** Ends the sessions of all clients except for that many. */
  async endSessions(except = 0): Promise<void> {
    await this.ask({ job: 'leave', url: this.url, except }, 30_000);
  }

  /** Closes the streams of all clients except for that many. */
  async closeStreams(except = 0): Promise<void> {
    await this.ask({ job: 'close', except }, 30_000);
  }

  private async ask(job: object, timeoutMs?: number): Promise<ClientReport> {
    const answer = new Promise<ClientReport>((done) =>
      this.child.once('message', (report) => done(report as ClientReport)),
    );
    this.child.send(job);
    const report = await within('the clients to answer', answer, timeoutMs);
    if (report.error) throw new Error(report.error);
    return report;
  }
}
