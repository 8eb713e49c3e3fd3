import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CanActivate, Type } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { describe, expect, it } from '@jest/globals';
import { of } from 'rxjs';
import { withGuards, HttpGuards } from './http-guards.js';

const REQUEST = {} as IncomingMessage;
const RESPONSE = {} as ServerResponse;

type Verdict = ReturnType<CanActivate['canActivate']>;

/** A handler behind one guard of its class and one of its own; `steps` records what ran. */
function handlerBehind(ofClass: () => Verdict, ofMethod: () => Verdict) {
  const steps: string[] = [];
  class ClassGuard {
    canActivate(): Verdict {
      steps.push('class');
      return ofClass();
    }
  }
  class MethodGuard {
    canActivate(): Verdict {
      steps.push('method');
      return ofMethod();
    }
  }
  @HttpGuards([ClassGuard])
  class Endpoint {
    @HttpGuards([MethodGuard])
    handle(): string {
      steps.push('handler');
      return 'handled';
    }
  }
  const moduleRef = { get: (type: Type) => new type() as unknown } as unknown as ModuleRef;
  return { steps, handle: withGuards(new Endpoint(), 'handle', moduleRef) };
}

describe('withGuards', () => {
  it('runs the guards of the class before those of the method, and both synchronously', () => {
    const { steps, handle } = handlerBehind(
      () => true,
      () => true,
    );
    expect(handle(REQUEST, RESPONSE)).toBe('handled');
    expect(steps).toEqual(['class', 'method', 'handler']);
  });

  it('waits for a guard that returns a promise', async () => {
    const { steps, handle } = handlerBehind(
      () => Promise.resolve(true),
      () => true,
    );
    const handled = handle(REQUEST, RESPONSE);
    expect(steps).toEqual(['class']);
    expect(await handled).toBe('handled');
    expect(steps).toEqual(['class', 'method', 'handler']);
  });

  it('refuses when a guard returns false', () => {
    const { steps, handle } = handlerBehind(
      () => false,
      () => true,
    );
    expect(() => handle(REQUEST, RESPONSE)).toThrow('Forbidden');
    expect(steps).toEqual(['class']);
  });

  it('refuses when a guard returns neither a boolean nor a promise of one', async () => {
    for (const verdict of [of(true), Promise.resolve(of(true)) as unknown as Promise<boolean>]) {
      const { steps, handle } = handlerBehind(
        () => verdict,
        () => true,
      );
      await expect(Promise.resolve(handle(REQUEST, RESPONSE))).rejects.toThrow('Forbidden');
      expect(steps).toEqual(['class']);
    }
  });

  it('refuses when a guard resolves with false', async () => {
    const { steps, handle } = handlerBehind(
      () => true,
      () => Promise.resolve(false),
    );
    await expect(handle(REQUEST, RESPONSE)).rejects.toThrow('Forbidden');
    expect(steps).toEqual(['class', 'method']);
  });
});
