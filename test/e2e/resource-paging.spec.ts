import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { RawSession, type ListMember } from '../kit/raw-session.js';
import { ScriptedServer } from '../kit/scripted-server/scripted-server.js';
import { contents } from '../kit/scripted-server/scripted-resources.js';
import { until } from '../kit/until.js';

const CHANGED = 'notifications/resources/list_changed';
const METHODS = { resources: 'resources/list', resourceTemplates: 'resources/templates/list' } as const;
type Member = keyof typeof METHODS;
const LISTS = Object.keys(METHODS) as Member[];

/** The letter determines the position in both lists. */
const ownUri = (member: Member, letter: string): string =>
  member === 'resources' ? `x://${letter}` : `x://${letter}/{rest}`;

const REFUSAL = { code: -32602, message: 'Invalid cursor: start again from the first page' };

interface Page {
  readonly letters: string[];
  readonly cursor: unknown;
}

describe('paginated lists of resources', () => {
  let server: ScriptedServer;
  let gateway: Gateway;
  let session: RawSession;

  beforeAll(async () => {
    server = await ScriptedServer.start();
    const other = await ScriptedServer.start();
    add('b', 'd', 'f', 'h', 'j', 'l', 'n');
    other.resource('y://z').template('y://z/{rest}');
    const mcpServers = { main: server.http, other: other.http };
    gateway = await startGateway({
      limits: { pageSize: 3 },
      mcpServers,
      projects: { one: { servers: ['main'] } },
    });
    await gateway.listed({ resources: ['main', 'other'], resourceTemplates: ['main', 'other'] });
    session = await RawSession.open(gateway.url);
  });

  function add(...letters: string[]): void {
    for (const letter of letters)
      server.resource(ownUri('resources', letter)).template(ownUri('resourceTemplates', letter));
  }

  function remove(...letters: string[]): void {
    for (const letter of letters) for (const member of LISTS) server.withoutResource(ownUri(member, letter));
  }

  async function page(member: Member, cursor?: unknown): Promise<Page> {
    const { result, error } = await session.request(METHODS[member], cursor === undefined ? {} : { cursor });
    if (!result) throw new Error(error?.message);
    const definitions = result[member] as { uri?: string; uriTemplate?: string }[];
    return {
      letters: definitions.map(({ uri, uriTemplate }) => /[xy]:\/\/([a-z])/.exec(uri ?? uriTemplate!)![1]!),
      cursor: result['nextCursor'],
    };
  }

  /** The entries of all pages after a page. */
  async function rest(member: Member, from: Page): Promise<string[]> {
    const letters: string[] = [];
    for (let { cursor } = from; cursor !== undefined;) {
      const next = await page(member, cursor);
      letters.push(...next.letters);
      cursor = next.cursor;
    }
    return letters;
  }

  async function untilListed(letters: string): Promise<void> {
    server.broadcast(CHANGED);
    for (const member of LISTS)
      await until(`the ${member} are ${letters}`, async () => {
        const first = await page(member);
        return [...first.letters, ...(await rest(member, first))].join('') === letters;
      });
  }

  it('have limits.pageSize entries per page and contain every entry exactly once', async () => {
    for (const member of LISTS) {
      const sizes: number[] = [];
      const letters: string[] = [];
      let cursor: unknown;
      do {
        const next = await page(member, cursor);
        sizes.push(next.letters.length);
        letters.push(...next.letters);
        cursor = next.cursor;
      } while (cursor !== undefined);
      expect([member, sizes, letters.join('')]).toEqual([member, [3, 3, 2], 'bdfhjlnz']);
    }
  });

  it('continue at the same entry when resources are added: none is repeated or skipped', async () => {
    const first = await Promise.all(LISTS.map((member) => page(member)));
    const second = await Promise.all(LISTS.map((member, index) => page(member, first[index]!.cursor)));
    // Before the first page, on it, right after it, on the second, right after the second and at the end.
    add('a', 'c', 'g', 'i', 'm', 'o');
    await untilListed('abcdfghijlmnoz');
    for (const [index, member] of LISTS.entries()) {
      expect(first[index]!.letters.join('')).toBe('bdf');
      expect((await rest(member, first[index]!)).join('')).toBe('ghijlmnoz');
      expect((await rest(member, second[index]!)).join('')).toBe('mnoz');
    }
  });

  it('continue at the same entry when resources are removed, including the one at the cursor', async () => {
    const first = await Promise.all(LISTS.map((member) => page(member)));
    const second = await Promise.all(LISTS.map((member, index) => page(member, first[index]!.cursor)));
    remove('a', 'c', 'g', 'h', 'o');
    await untilListed('bdfijlmnz');
    for (const [index, member] of LISTS.entries()) {
      expect(first[index]!.letters.join('')).toBe('abc');
      expect((await rest(member, first[index]!)).join('')).toBe('dfijlmnz');
      expect(second[index]!.letters.join('')).toBe('dfg');
      expect((await rest(member, second[index]!)).join('')).toBe('ijlmnz');
    }
  });

  it('end with the remaining entries when most of the next page was removed', async () => {
    const [, second] = [await page('resources'), await page('resources', (await page('resources')).cursor)];
    remove('m', 'n');
    await untilListed('bdfijlz');
    expect((await rest('resources', second)).join('')).toBe('z');
  });

  describe.each(LISTS)('(%s) refuse with -32602', (member) => {
    let valid: string;

    beforeAll(async () => {
      valid = String((await page(member)).cursor);
    });

    const answerTo = async (cursor: unknown, by = session): Promise<object | undefined> =>
      (await by.request(METHODS[member], { cursor })).error;

    it.each<[string, () => unknown]>([
      ['a tampered cursor', () => (valid.startsWith('A') ? 'B' : 'A') + valid.slice(1)],
      [
        'a cursor with a changed position',
        () => valid.slice(0, 22) + Buffer.from('zzz').toString('base64url'),
      ],
      ['a truncated cursor', () => valid.slice(0, -2)],
      ['a cursor with appended characters', () => `${valid}AAAA`],
      ['a forged cursor', () => Buffer.from('resource://main/x://d').toString('base64url')],
      ['an empty cursor', () => ''],
      ['a number as cursor', () => 3],
      ['null as cursor', () => null],
      ['a cursor of 1 MB', () => 'A'.repeat(1_000_000)],
    ])('%s', async (_case, cursor) => {
      expect(await answerTo(cursor())).toMatchObject(REFUSAL);
    });

    it('a cursor of the other list', async () => {
      const other = LISTS.find((one) => one !== member)!;
      expect(await answerTo((await page(other)).cursor)).toMatchObject(REFUSAL);
    });

    it.each<ListMember>(['tools', 'prompts'])('their cursor in another list (%s)', async (kind) => {
      const { error } = await session.request(`${kind}/list`, { cursor: valid });
      expect(error).toMatchObject({ code: -32602 });
    });

    it('a cursor of another scope, in both directions', async () => {
      const inside = await RawSession.open(gateway.urlOf('/projects/one/mcp'));
      expect(await answerTo(valid, inside)).toMatchObject(REFUSAL);
      const { result } = await inside.request(METHODS[member]);
      expect(await answerTo(result?.['nextCursor'])).toMatchObject(REFUSAL);
    });
  });

  it('continue after a URI of the maximum length, which can be read', async () => {
    // The limit counts bytes, and each of these characters takes three.
    const long = `x://e${'\u6f22'.repeat(2703)}`;
    const uri = `resource://main/${long}`;
    server.resource(long);
    server.broadcast(CHANGED);
    const cursor = await until('the long URI is the last on the first page', async () => {
      const { result } = await session.request('resources/list');
      const last = (result!['resources'] as { uri: string }[]).at(-1)!;
      return last.uri === uri && result!['nextCursor'];
    });
    expect((await page('resources', cursor)).letters.join('')).toBe('fij');
    expect((await session.read(uri)).result).toEqual(contents(uri, `read ${long}`));
  });

  it('refuse a cursor of another gateway process', async () => {
    const cursors = await Promise.all(LISTS.map(async (member) => (await page(member)).cursor));
    const next = await startGateway({ limits: { pageSize: 3 }, mcpServers: { main: server.http } });
    await next.listed({ resources: ['main'], resourceTemplates: ['main'] });
    const client = await RawSession.open(next.url);
    for (const [index, member] of LISTS.entries()) {
      const { error } = await client.request(METHODS[member], { cursor: cursors[index] });
      expect(error).toMatchObject({ code: -32602 });
    }
  });
});
