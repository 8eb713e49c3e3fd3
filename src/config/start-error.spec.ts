import { describe, expect, it } from '@jest/globals';
import { listenError, StartError } from './start-error.js';

const failure = (code: string): Error => Object.assign(new Error(`listen ${code}`), { code });

describe('listenError', () => {
  it.each([
    ['EADDRINUSE', '127.0.0.1', 'cannot listen on 127.0.0.1:80: the port is in use; stop the program'],
    ['EACCES', '::1', 'cannot listen on [::1]:80: this user may not use the port; choose one above 1023'],
    ['EADDRNOTAVAIL', '192.0.2.1', 'cannot listen on 192.0.2.1:80: this machine does not have the address'],
    ['ENOTFOUND', 'nowhere', 'cannot listen on nowhere:80: the host name cannot be resolved'],
  ])('explains %s in one sentence that says what to do', (code, host, sentence) => {
    const error = listenError(failure(code), { host, port: 80 }) as Error;
    expect(error).toBeInstanceOf(StartError);
    expect(error.message).toContain(sentence);
    expect(error.message).not.toContain('\n');
  });

  it('returns other errors unchanged', () => {
    const error = failure('EMFILE');
    expect(listenError(error, { host: '127.0.0.1', port: 80 })).toBe(error);
  });
});
