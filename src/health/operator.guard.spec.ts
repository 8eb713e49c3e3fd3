import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import type { OperatorAccess } from '../admin/operator-access.js';
import { OperatorGuard } from './operator.guard.js';

/** A request with these headers whose access check has the given result. */
function requestOf(allowed: boolean, headers: Record<string, string> = {}) {
  const sent: Record<string, string> = {};
  const http = {
    getRequest: () => ({ headers, socket: {} }),
    getResponse: () => ({ header: (name: string, value: string) => (sent[name] = value) }),
  };
  const context = { switchToHttp: () => http } as unknown as ExecutionContext;
  const guard = new OperatorGuard({ allows: () => Promise.resolve(allowed) } as unknown as OperatorAccess);
  return { sent, activate: () => guard.canActivate(context) };
}

describe('OperatorGuard', () => {
  it('admits allowed requests', async () => {
    expect(await requestOf(true).activate()).toBe(true);
  });

  it('challenges a request without a token', async () => {
    const { sent, activate } = requestOf(false);
    await expect(activate()).rejects.toMatchObject({ status: 401 });
    expect(sent['www-authenticate']).toMatch(/^Bearer /);
  });

  it('refuses a wrong token', async () => {
    const { activate } = requestOf(false, { authorization: 'Bearer guess' });
    await expect(activate()).rejects.toMatchObject({ status: 403 });
  });
});
