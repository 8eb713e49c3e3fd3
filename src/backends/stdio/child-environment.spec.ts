import { describe, expect, it } from '@jest/globals';
import { childEnvironment } from './child-environment.js';

describe('childEnvironment', () => {
  it('inherits only variables of the allow-list', () => {
    const gateway = {
      PATH: '/bin',
      HOME: '/root',
      LC_ALL: 'C',
      GITHUB_TOKEN: 'secret',
      NODE_OPTIONS: '--inspect',
    };
    expect(childEnvironment({}, gateway)).toEqual({ PATH: '/bin', HOME: '/root', LC_ALL: 'C' });
  });

  it('prefers the configured variables of the server over inherited ones', () => {
    expect(childEnvironment({ PATH: '/opt', TOKEN: 'own' }, { PATH: '/bin' })).toEqual({
      PATH: '/opt',
      TOKEN: 'own',
    });
  });

  it.each([
    ['HTTPS_PROXY', 'http://proxy:3128', true],
    ['https_proxy', 'http://proxy:3128', true],
    ['no_proxy', 'localhost', true],
    ['HTTPS_PROXY', 'http://user:password@proxy:3128', false],
    ['NODE_EXTRA_CA_CERTS', '/etc/company.pem', true],
  ])('inherits proxies without passwords, and certificates: %s=%s', (name, value, inherited) => {
    expect(name in childEnvironment({}, { [name]: value })).toBe(inherited);
  });
});
