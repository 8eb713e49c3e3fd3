import { JsonText } from '../lib/json-text/json-text.js';
import type { Era } from '../core/errors.js';
import type { Scope } from '../core/scope.js';
import { isJsonObject } from '../lib/json-text/json-value.js';
import type { MetaTool } from '../registry/meta-tool-registry.js';
import { ArgumentError, ToolArguments } from './tool-arguments.js';

/** By name of a property: its JSON schema. */
type Properties = Readonly<Record<string, object>>;

interface MetaToolSpec {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Properties;
  readonly requiredInput?: readonly string[];
  readonly output: Properties;
  readonly requiredOutput: readonly string[];
  /** Returns the structured content of the result. Throws an `ArgumentError` for an invalid argument. */
  run(args: ToolArguments, scope: Scope, era: Era): object | Promise<object>;
}

/** Defines a read-only meta tool, which shows entries of the catalog that are in the caller's scope. */
export function defineMetaTool(spec: MetaToolSpec): MetaTool {
  const { name, title, description, input, requiredInput = [], output, requiredOutput } = spec;
  return {
    name,
    definition: {
      name,
      title,
      description,
      inputSchema: {
        type: 'object',
        properties: input,
        required: requiredInput,
        additionalProperties: false,
      },
      outputSchema: { type: 'object', properties: output, required: requiredOutput },
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    async call(args, { scope, revision }) {
      try {
        if (!isJsonObject(args)) throw new ArgumentError('arguments must be an object');
        return resultOf(await spec.run(new ToolArguments(args), scope, revision.era));
      } catch (error) {
        if (error instanceof ArgumentError) return errorResultOf(error.message);
        throw error;
      }
    },
  };
}

/** The tool result: structured content, and the same as text for clients that do not know structured content. */
const resultOf = (structuredContent: object): JsonText =>
  JsonText.of({
    content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
    structuredContent,
  });

const errorResultOf = (text: string): JsonText =>
  JsonText.of({ content: [{ type: 'text', text }], isError: true });
