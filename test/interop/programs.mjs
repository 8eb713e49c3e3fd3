import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { within } from './waits.mjs';

/** Also for a machine on which many columns start at once. */
export const START_MS = 60_000;
const ANSWER_MS = 30_000;
const STOP_MS = 10_000;

const running = new Set();

process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(1));

class Program {
  errors = '';

  constructor({ command, args = [], cwd, env = {} }) {
    this.child = spawn(command, args, {
      cwd,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
      stdio: 'pipe',
    });
    running.add(this.child);
    this.exited = once(this.child, 'exit').finally(() => running.delete(this.child));
    this.child.stdin.on('error', () => undefined);
    this.child.stderr
      .setEncoding('utf8')
      .on('data', (text) => (this.errors = (this.errors + text).slice(-4000)));
    this.lines = createInterface({ input: this.child.stdout });
  }

  async stop(signal = 'SIGTERM') {
    if (!running.has(this.child)) return;
    const timer = setTimeout(() => this.child.kill('SIGKILL'), STOP_MS);
    this.child.kill(signal);
    await this.exited;
    clearTimeout(timer);
  }
}

/** A program that prints its URL as the last word of its first line. */
export class ServerProgram extends Program {
  static async start(command) {
    const program = new ServerProgram(command);
    const exit = program.exited.then(() => Promise.reject(new Error(`did not start: ${program.errors}`)));
    exit.catch(() => undefined);
    try {
      const [line] = await within('the URL', Promise.race([once(program.lines, 'line'), exit]), START_MS);
      program.url = line.split(' ').at(-1);
    } catch (error) {
      await program.stop('SIGKILL');
      throw error;
    }
    return program;
  }
}

/** A client program: commands in, answers and events out, as JSON lines. */
export class ClientProgram extends Program {
  #answers = new Map();
  #lastId = 0;
  #waiting = new Set();
  events = [];

  constructor(command) {
    super(command);
    this.lines.on('line', (line) => this.#receive(JSON.parse(line)));
    void this.exited.then(() => this.#fail(new Error(`the client program ended: ${this.errors}`)));
  }

  /** Sends a command; `answer` settles with its result, `id` names a call to cancel. */
  send(op, params = {}) {
    const id = ++this.#lastId;
    const answer = new Promise((resolve, reject) => this.#answers.set(id, { resolve, reject }));
    answer.catch(() => undefined);
    this.child.stdin.write(`${JSON.stringify({ id, op, ...params })}\n`);
    return { id, answer };
  }

  do(op, params, ms = ANSWER_MS) {
    return within(`${op} ${JSON.stringify(params ?? {})}`, this.send(op, params).answer, ms);
  }

  call(name, args = {}, options = {}) {
    return this.do('call', { name, arguments: args, ...options });
  }

  ofKind(event) {
    return this.events.filter((one) => one.event === event);
  }

  /** Waits until the events fulfil the condition. */
  async until(what, condition, ms = ANSWER_MS) {
    if (condition(this)) return;
    let waiting;
    const fulfilled = new Promise((resolve) => {
      waiting = () => condition(this) && resolve();
      this.#waiting.add(waiting);
    });
    await within(what, fulfilled, ms).finally(() => this.#waiting.delete(waiting));
  }

  #receive(message) {
    if (message.event) {
      this.events.push(message);
      for (const waiting of this.#waiting) waiting();
      return;
    }
    const answer = this.#answers.get(message.id);
    this.#answers.delete(message.id);
    if (message.error === undefined) answer?.resolve(message.result);
    else answer?.reject(new Error(message.error));
  }

  #fail(error) {
    for (const { reject } of this.#answers.values()) reject(error);
    this.#answers.clear();
  }
}
