/**
 * `npm run openapi` writes the OpenAPI document of the admin API, and the types of the programs that use the API:
 *   src/admin/openapi/openapi.json   from the controllers and DTOs of src/admin, by @nestjs/swagger
 *   src/client/admin-schema.ts       from that document, by openapi-typescript
 * With `--check` it writes nothing and fails when a file is not current. It needs a build.
 *
 * The compiler plugin of @nestjs/swagger reads types, comments and class-validator decorators. The sources therefore need
 * no decorators of @nestjs/swagger, and the server never loads the package.
 */
import 'reflect-metadata';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ApiProperty, DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { before as swaggerPlugin } from '@nestjs/swagger/plugin';
import { Test } from '@nestjs/testing';
import { getMetadataStorage } from 'class-validator';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const DOCUMENT = 'src/admin/openapi/openapi.json';
const TYPES = 'src/client/admin-schema.ts';
const OUT = 'build-openapi';
const DESCRIBED = /\/src\/admin\/.*\.(controller|dto)\.ts$/;
/** The static method that the plugin adds to a DTO. */
const METADATA_FACTORY = '_OPENAPI_METADATA_FACTORY';
const PREFIX = '/admin/v1/';

const SUCCESS_DESCRIPTIONS = { 200: 'Success.', 201: 'Added.', 204: 'Success, without a body.' };
const ETAG = { ETag: { description: 'Names the version of the definition.', schema: { type: 'string' } } };
const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  description: 'Makes the change only while the definition has this version.',
  schema: { type: 'string' },
};
const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  description: '`*` makes the change only when there is no such server or project.',
  schema: { type: 'string' },
};

const GENERATED = '/** Generated from the OpenAPI document of the admin API by `npm run openapi`. */\n';
const ref = (name) => ({ $ref: `#/components/schemas/${name}` });

try {
  const described = compile();
  const document = await createDocument(described);
  const types = `${GENERATED}${astToString(await openapiTS({ ...document, paths: {} }, { immutable: true, defaultNonNullable: false }))}`;
  write({ [DOCUMENT]: `${JSON.stringify(document, null, 2)}\n`, [TYPES]: types });
} finally {
  rmSync(OUT, { recursive: true, force: true });
}

function write(files) {
  const isCheck = process.argv.includes('--check');
  for (const [path, text] of Object.entries(files)) {
    if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
    if (!isCheck) writeFileSync(path, text);
    else process.exitCode = 1;
    console.log(isCheck ? `${path} is not current: run \`npm run openapi\`` : `wrote ${path}`);
  }
}

/** Copies build/ and compiles the controllers and DTOs of the admin API once more, with the plugin. */
function compile() {
  cpSync('build', OUT, { recursive: true });
  const { config } = ts.readConfigFile('tsconfig.build.json', (path) => ts.sys.readFile(path));
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, process.cwd());
  const described = fileNames.filter((file) => DESCRIBED.test(file));
  const program = ts.createProgram(described, {
    ...options,
    outDir: resolve(OUT),
    incremental: false,
    tsBuildInfoFile: undefined,
    sourceMap: false,
  });
  const before = [swaggerPlugin({ introspectComments: true, esmCompatible: true }, program)];
  for (const file of described)
    program.emit(program.getSourceFile(file), undefined, undefined, false, { before });
  return described.map((file) => relative('src', file).replace(/\.ts$/, '.js'));
}

function load(path) {
  return import(pathToFileURL(`${OUT}/${path}`).href);
}

async function createDocument(described) {
  const modules = await Promise.all(described.map(load));
  const classes = modules
    .flatMap((module) => Object.values(module))
    .filter((value) => typeof value === 'function');
  classes.filter(({ name }) => !name.endsWith('Controller')).forEach(declareRules);
  const { PROBLEMS } = await load('admin/admin-problem.js');
  const { VERSION } = await load('version.js');
  const module = await Test.createTestingModule({
    controllers: classes.filter(({ name }) => name.endsWith('Controller')),
  })
    .useMocker(() => ({}))
    .compile();
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Gatehouse admin API')
    .setDescription(
      'Enables and disables servers and tools, defines servers and projects, and shows the state of the gateway.',
    )
    .setVersion(VERSION)
    .addServer('/')
    .addSecurityRequirements('adminToken')
    .build();
  const scanned = SwaggerModule.createDocument(
    module.createNestApplication(new FastifyAdapter(), { logger: false }),
    config,
    {
      operationIdFactory: (_controller, method) => method,
      extraModels: classes.filter(({ name }) => name === 'ProblemDto'),
    },
  );
  return complete(JSON.parse(JSON.stringify(scanned).replaceAll(/Dto(?=")/g, '')), PROBLEMS);
}

/** Declares the properties that the plugin found, and adds rules of class-validator that the plugin ignores. */
function declareRules(dto) {
  const schemas = { isInt: { type: 'integer' }, isIso8601: { format: 'date-time' } };
  const rules = getMetadataStorage().getTargetValidationMetadatas(dto, '', true, false);
  for (const [property, found] of Object.entries(dto[METADATA_FACTORY]?.() ?? {})) {
    const known = rules
      .filter(({ propertyName }) => propertyName === property)
      .map(({ name }) => schemas[name]);
    ApiProperty(Object.assign(found, ...known))(dto.prototype, property);
  }
}

/** Adds what applies to the whole API: authentication, entity tags, problems, and schemas of the configuration. */
async function complete(document, problems) {
  const { info, servers, security, components } = document;
  const paths = Object.fromEntries(
    Object.entries(document.paths)
      .filter(([path]) => path.startsWith(PREFIX))
      .map(([path, operations]) => [
        path,
        Object.fromEntries(
          Object.entries(operations).map(([method, operation]) => [
            method,
            completeOperation(method, path, operation, problems),
          ]),
        ),
      ]),
  );
  const tags = new Set(
    Object.values(paths).flatMap((operations) =>
      Object.values(operations).flatMap(({ tags: names }) => names),
    ),
  );
  const { schemas } = components;
  schemas.ProjectBody.additionalProperties = false;
  schemas.ServerInfo.additionalProperties = true;
  const { description } = schemas.ServerDetail.properties.definition;
  for (const { properties } of [schemas.ServerDetail, schemas.PatchedServer])
    properties.definition = { ...ref('ServerDefinition'), description };
  return onOneLine({
    openapi: document.openapi,
    info: { ...info, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' }, contact: undefined },
    servers,
    security,
    tags: [...tags].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        adminToken: {
          type: 'http',
          scheme: 'bearer',
          description:
            '`admin.token` of the configuration, otherwise the content of `admin-token` in `stateDir`.',
        },
      },
      schemas: { ServerDefinition: await serverDefinition(), ...schemas },
    },
  });
}

function completeOperation(method, path, operation, problems) {
  const { operationId, summary, description, responses: declared, requestBody } = operation;
  const tags = operation.tags.map((tag) => tag.replace(/^Admin/, '').toLowerCase());
  const isPublic = operationId === 'getOpenApi';
  const isWrite = method !== 'get';
  const hasBody = method === 'put' || method === 'patch';
  const isVersioned = /\/(servers|projects)\/\{id\}/.test(path);
  const parameters = [
    ...operation.parameters,
    ...(isWrite && isVersioned ? [IF_MATCH] : []),
    ...(method === 'put' ? [IF_NONE_MATCH] : []),
  ];
  const takesQuery = parameters.some((parameter) => parameter.in === 'query');
  const statuses = [
    ...(isPublic ? [] : [401, 429]),
    // Every request may be refused for its Host or Origin.
    400,
    403,
    ...(isWrite ? [503, 507] : []),
    ...(path.includes('{') || takesQuery ? [404] : []),
    ...(isWrite && isVersioned ? [412] : []),
    ...(hasBody ? [413, 415] : []),
    ...(hasBody || takesQuery ? [422] : []),
  ];
  const responses = Object.fromEntries(statuses.map((status) => [status, problem(status, '', problems)]));
  for (const [status, response] of Object.entries(declared)) {
    if (Number(status) >= 400) responses[status] = problem(status, response.description, problems);
    else responses[status] = success(status, response, isVersioned && !path.endsWith('/tools'));
  }
  if (method === 'put') responses[201] = { ...responses[200], description: SUCCESS_DESCRIPTIONS[201] };
  if (operationId === 'readEvents')
    responses[200].content = { 'text/event-stream': { schema: { type: 'string' } } };
  const body = hasBody && { requestBody: bodyOf(method, path, requestBody) };
  return {
    operationId,
    summary,
    description,
    tags,
    ...(isPublic && { security: [] }),
    parameters: parameters.length > 0 ? parameters : undefined,
    ...body,
    responses,
  };
}

function success(status, { content }, hasEtag) {
  const headers = hasEtag && status !== '204' ? ETAG : undefined;
  return { description: SUCCESS_DESCRIPTIONS[status], headers, content };
}

function problem(status, description, problems) {
  const titles = Object.values(problems).filter((known) => known.status === Number(status));
  return {
    description: description || titles.map(({ title }) => title).join('; '),
    content: { 'application/problem+json': { schema: ref('Problem') } },
  };
}

function bodyOf(method, path, declared) {
  if (method === 'patch')
    return { required: true, content: { 'application/merge-patch+json': { schema: { type: 'object' } } } };
  if (declared) return declared;
  return { required: true, content: { 'application/json': { schema: ref('ServerDefinition') } } };
}

/** The schema of a server in the configuration file, without `${VARIABLES}`: the API does not replace them. */
async function serverDefinition() {
  const { configJsonSchema } = await load('config/json-schema.js');
  const { anyOf } = configJsonSchema().properties.mcpServers.additionalProperties;
  return withoutVariables({ anyOf: anyOf.map(withoutClientKeys) });
}

/** Keys of other clients are accepted, but belong to files that are pasted. */
function withoutClientKeys({ type, properties, anyOf, required = anyOf[0].required, additionalProperties }) {
  const own = Object.entries(properties).filter(([, { deprecated }]) => !deprecated);
  return { type, properties: Object.fromEntries(own), required, additionalProperties };
}

function withoutVariables(schema) {
  if (Array.isArray(schema)) return schema.map(withoutVariables);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { anyOf, ...rest } = schema;
  const forms = (anyOf ?? []).filter((form) => !('$ref' in form));
  const merged =
    forms.length === 1 ? { ...rest, ...forms[0] } : forms.length > 1 ? { ...rest, anyOf: forms } : rest;
  return Object.fromEntries(Object.entries(merged).map(([name, value]) => [name, withoutVariables(value)]));
}

/** Joins the lines of descriptions, which come from wrapped comments. */
function onOneLine(document) {
  return JSON.parse(JSON.stringify(document, unwrapDescription));
}

function unwrapDescription(name, value) {
  return name === 'description' && typeof value === 'string' ? value.replaceAll(/\s*\n\s*/g, ' ') : value;
}
