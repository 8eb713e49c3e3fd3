import type { PipeTransform } from '@nestjs/common';
import { invalidInput } from './admin-problem.js';

export type JsonObject = Readonly<Record<string, unknown>>;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** For bodies whose members are validated by the service that reads them. */
export class JsonObjectPipe implements PipeTransform<unknown, JsonObject> {
  transform(value: unknown): JsonObject {
    if (isJsonObject(value)) return value;
    throw invalidInput([{ field: 'body', message: 'must be a JSON object' }]);
  }
}
