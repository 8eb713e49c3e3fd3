import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import type { OperatorAccess } from '../admin/operator-access.js';
import { OperatorGuard } from './operator.guard.js';

/** A request with these headers whose access check has the given result. */
function ask(allowed: boolean, headers: Record<string, string> = {}) {
  const sent: Record<string, string> = {};
  const http = {
    getRequest: () => ({ headers, socket: {} }),
    getResponse: () => ({ header: (name: string, value: string) => (sent[name] = value) }),
  };
  const context = { switchToHttp: () => http } as unknown as ExecutionContext;
  const guard = new OperatorGuard({ allows: () => allowed } as unknown as OperatorAccess);
  return { sent, enter: () => guard.canActivate(context) };
}

describe('OperatorGuard', () => {
  it('admits operators', () => {
    expect(ask(true).enter()).toBe(true);
  });

  it('challenges a request without a token', () => {
    const { sent, enter } = ask(false);
    expect(enter).toThrow(expect.objectContaining({ status: 401 }));
    expect(sent['www-authenticate']).toMatch(/^Bearer /);
  });

  it('refuses a wrong token', () => {
    expect(ask(false, { authorization: 'Bearer guess' }).enter).toThrow(
      expect.objectContaining({ status: 403 }),
    );
  });
});
