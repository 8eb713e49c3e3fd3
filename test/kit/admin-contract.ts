import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { RawResponse } from './http.js';

type Json = Record<string, unknown>;

interface Operation {
  readonly responses: Readonly<Record<string, { readonly headers?: Json; readonly content?: Json }>>;
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation & Json>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>> };
}

export const readOpenApi = (): OpenApiDocument =>
  JSON.parse(readFileSync('src/admin/openapi/openapi.json', 'utf8')) as OpenApiDocument;

/**
 * Checks responses of the admin API against its OpenAPI document. Unlike a client, it accepts no undocumented member, except
 * in `ServerDefinition`.
 */
export class AdminContract {
  private readonly document = readOpenApi();
  private readonly routes = Object.entries(this.document.paths).map(([path, operations]) => ({
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`),
    operations,
  }));
  private readonly validators = new Map<string, ValidateFunction>();
  private readonly ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    formats: { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ },
  });

  constructor() {
    const schemas = Object.entries(this.document.components.schemas).map(([name, schema]) => [
      name,
      name === 'ServerDefinition' ? schema : { additionalProperties: false, ...schema },
    ]);
    this.ajv.addSchema({ $id: 'api', components: { schemas: Object.fromEntries(schemas) as Json } });
  }

  /** Throws when the response differs from the document. Routes that the document does not contain are not checked. */
  check(method: string, url: string, response: RawResponse): void {
    const { pathname } = new URL(url);
    const operation = this.routes.find(({ pattern }) => pattern.test(pathname))?.operations[
      method.toLowerCase()
    ];
    if (!operation) return;
    const problems = this.problemsOf(operation, response);
    if (problems.length > 0)
      throw new Error(
        `${method} ${pathname} with status ${response.status} contradicts the OpenAPI document: ${problems.join('; ')}`,
      );
  }

  private problemsOf(operation: Operation, { status, headers, text }: RawResponse): string[] {
    const expected = operation.responses[status];
    if (!expected) return ['the status is not documented'];
    if ('ETag' in (expected.headers ?? {}) !== (headers['etag'] !== undefined))
      return ['the ETag header is not as documented'];
    if (!expected.content) return text === '' ? [] : ['no body is documented'];
    const type = headers['content-type']?.split(';', 1)[0] ?? '';
    const documented = expected.content[type] as { schema: Json } | undefined;
    if (!documented) return [`the content type ${type} is not documented`];
    if (!type.endsWith('json')) return [];
    const validate = this.validatorOf(documented.schema);
    validate(JSON.parse(text));
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }

  private validatorOf(schema: Json): ValidateFunction {
    const key = JSON.stringify(schema).replaceAll('"#/', '"api#/');
    let validator = this.validators.get(key);
    if (!validator) {
      validator = this.ajv.compile(JSON.parse(key) as Json);
      this.validators.set(key, validator);
    }
    return validator;
  }
}
