import { describe, expect, it } from '@jest/globals';
import type { Backend } from '../backends/backend.js';
import type { Backends } from '../backends/backends.service.js';
import type { DesiredServers } from '../backends/desired-servers.js';
import { RequiredServers } from './required-servers.js';

class Servers {
  readonly current = new Map([
    ['a', { enabled: true }],
    ['b', { enabled: true }],
  ]);
  private emit: (backend: Backend) => void = () => {};
  readonly backends = {
    onStateChange: (listener: (backend: Backend) => void) => (this.emit = listener),
  } as unknown as Backends;

  require(...requireServers: string[]): RequiredServers {
    const required = new RequiredServers(
      { requireServers },
      this as unknown as DesiredServers,
      this.backends,
    );
    required.onModuleInit();
    return required;
  }

  setState(id: string, state: string): void {
    this.emit({ id, status: () => ({ state }) } as unknown as Backend);
  }
}

describe('RequiredServers', () => {
  it('is satisfied without configured servers', () => {
    expect(new Servers().require().allWereConnected).toBe(true);
  });

  it('is satisfied after each server was connected once', () => {
    const servers = new Servers();
    const required = servers.require('a', 'b');
    servers.setState('a', 'retrying');
    servers.setState('b', 'ready');
    expect(required.allWereConnected).toBe(false);
    servers.setState('a', 'ready');
    expect(required.allWereConnected).toBe(true);
  });

  it('stays satisfied when a server is lost later', () => {
    const servers = new Servers();
    const required = servers.require('a');
    servers.setState('a', 'ready');
    servers.setState('a', 'crash-loop');
    expect(required.allWereConnected).toBe(true);
  });

  it('does not wait for disabled servers', () => {
    const servers = new Servers();
    const required = servers.require('a');
    servers.current.set('a', { enabled: false });
    expect(required.allWereConnected).toBe(true);
  });
});
