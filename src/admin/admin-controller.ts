import {
  applyDecorators,
  Controller,
  UseGuards,
  UseInterceptors,
  UsePipes,
  ValidationPipe,
} from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { AdminGuard } from './admin.guard.js';
import { invalidInput, type FieldError } from './admin-problem.js';
import { BodyInterceptor } from './body.interceptor.js';
import { RefusalInterceptor } from './refusal.interceptor.js';
import { ResponseInterceptor } from './response.interceptor.js';

const ADMIN_PATH = 'admin/v1';

/** A controller of the admin API, with guard, validation and redaction on every route. */
export const AdminController = (path = ''): ClassDecorator =>
  applyDecorators(
    Controller(path === '' ? ADMIN_PATH : `${ADMIN_PATH}/${path}`),
    UseGuards(AdminGuard),
    UseInterceptors(ResponseInterceptor, RefusalInterceptor, BodyInterceptor),
    UsePipes(
      new ValidationPipe({
        transform: true,
        whitelist: true,
        forbidNonWhitelisted: true,
        // Errors must contain neither the object nor the value, which may be secrets.
        validationError: { target: false, value: false },
        exceptionFactory: (errors) => invalidInput(errors.flatMap((error) => fieldErrors(error, ''))),
      }),
    ),
  );

function fieldErrors(
  { property, constraints = {}, children = [] }: ValidationError,
  path: string,
): FieldError[] {
  const field = fieldPath(path, property);
  const errors = Object.values(constraints).map((message) => ({ field, message }));
  return [...errors, ...children.flatMap((child) => fieldErrors(child, field))];
}

function fieldPath(path: string, property: string): string {
  if (/^\d+$/.test(property)) return `${path}[${property}]`;
  return path === '' ? property : `${path}.${property}`;
}
