import type { PipeTransform } from '@nestjs/common';
import { isJsonObject, type JsonObject } from '../lib/json-text/json-value.js';
import { invalidInput } from './admin-problem.js';

/** Accepts any JSON object as body. The service that reads the body validates its members. */
export class JsonObjectPipe implements PipeTransform<unknown, JsonObject> {
  transform(value: unknown): JsonObject {
    if (isJsonObject(value)) return value;
    throw invalidInput([{ field: 'body', message: 'must be a JSON object' }]);
  }
}
