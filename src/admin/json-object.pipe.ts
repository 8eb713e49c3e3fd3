import type { PipeTransform } from '@nestjs/common';
import { invalidInput } from './admin-problem.js';
import { isPlainObject, type PlainObject } from './plain-object.js';

/** For bodies whose keys are checked by whoever reads them. */
export class JsonObjectPipe implements PipeTransform<unknown, PlainObject> {
  transform(value: unknown): PlainObject {
    if (isPlainObject(value)) return value;
    throw invalidInput([{ field: 'body', message: 'must be a JSON object' }]);
  }
}
