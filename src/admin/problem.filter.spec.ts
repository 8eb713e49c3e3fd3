import { readFileSync } from 'node:fs';
import type { ArgumentsHost } from '@nestjs/common';
import type { HttpAdapterHost } from '@nestjs/core';
import { describe, expect, it } from '@jest/globals';
import { recordLog } from '../../test/kit/log-lines.js';
import { GatewayError } from '../core/errors.js';
import { AdminProblem, PROBLEMS } from './admin-problem.js';
import { ProblemFilter } from './problem.filter.js';
import type { SecretRedactor } from './secret-redactor.js';

/** Answers the error of a request under /admin, and returns the status and the members of the log line. */
function answer(error: unknown): { status: number; logged: string[] | undefined } {
  const lines = recordLog();
  let status = 0;
  const reply = {
    sent: false,
    header: () => reply,
    headers: () => reply,
    send: () => reply,
    code: (code: number) => {
      status = code;
      return reply;
    },
  };
  const request = {
    url: '/admin/v1/events',
    method: 'GET',
    headers: {},
    routeOptions: { url: '/admin/v1/events' },
  };
  const http = { getRequest: () => request, getResponse: () => reply };
  const host = { getType: () => 'http', switchToHttp: () => http } as unknown as ArgumentsHost;
  const secrets = { redact: (value: unknown) => value } as unknown as SecretRedactor;
  const adapterHost = { httpAdapter: {} } as HttpAdapterHost;
  // oxlint-disable-next-line promise/no-promise-in-callback -- the catch of a filter, not of a promise
  new ProblemFilter(adapterHost, secrets).catch(error, host);
  const [line] = lines;
  return { status, logged: line === undefined ? undefined : Object.keys(JSON.parse(line) as object) };
}

describe('ProblemFilter', () => {
  it.each([
    ['a reader of the event feed while the gateway drains', new AdminProblem('draining', 'draining'), 503],
    ['a caller that must change its request', new AdminProblem('conflict', 'no'), 409],
  ])('logs nothing for %s', (_what, error, status) => {
    expect(answer(error)).toEqual({ status, logged: undefined });
  });

  it.each([
    ['a reader too many', new AdminProblem('too-many-readers', 'full'), 503],
    ['unavailable storage', new GatewayError('storage-unavailable', 'broken'), 503],
  ])('logs no stack for %s', (_what, error, status) => {
    const found = answer(error);
    expect(found.status).toBe(status);
    expect(found.logged).toContain('problem');
    expect(found.logged).not.toContain('stack');
  });

  it('logs the stack of a defect', () => {
    const found = answer(new TypeError('x is undefined'));
    expect([found.status, found.logged]).toEqual([500, expect.arrayContaining(['stack'])]);
  });

  it.each(Object.entries(PROBLEMS))('documents the problem %s with its status', (kind, { status }) => {
    const row = new RegExp(`^\\| ${status} +\\| \`${kind}\` +\\|`, 'm');
    expect(readFileSync('docs/admin-api.md', 'utf8')).toMatch(row);
  });
});
