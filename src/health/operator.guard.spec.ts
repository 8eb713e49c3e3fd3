import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import type { AccessCheckResult, OperatorAccess } from '../admin/operator-access.js';
import { OperatorGuard } from './operator.guard.js';

/** A request on which the access check decides as given. */
function requestWith(decision: AccessCheckResult) {
  const sent: Record<string, string> = {};
  const http = {
    getRequest: () => ({ headers: {}, socket: {} }),
    getResponse: () => ({ header: (name: string, value: string) => (sent[name] = value) }),
  };
  const context = { switchToHttp: () => http } as unknown as ExecutionContext;
  const guard = new OperatorGuard({ check: () => Promise.resolve(decision) } as unknown as OperatorAccess);
  return { sent, activate: () => guard.canActivate(context) };
}

describe('OperatorGuard', () => {
  it('admits allowed requests', async () => {
    expect(await requestWith('allowed').activate()).toBe(true);
  });

  it.each<[AccessCheckResult, number, Record<string, string>]>([
    ['no-token', 401, { 'www-authenticate': 'Bearer realm="gatehouse-admin"' }],
    ['invalid-token', 403, {}],
    ['too-many-attempts', 429, { 'retry-after': '5' }],
  ])('answers %s with %i', async (decision, status, headers) => {
    const { sent, activate } = requestWith(decision);
    await expect(activate()).rejects.toMatchObject({ status });
    expect(sent).toEqual(headers);
  });
});
