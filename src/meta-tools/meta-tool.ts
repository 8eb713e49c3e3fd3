import { JsonText } from '../lib/json-text/json-text.js';
import type { Scope } from '../core/scope.js';
import type { MetaTool } from '../registry/meta-tools.js';
import { isObject } from '../mcp/json-rpc.js';
import { ArgumentError, ToolArguments } from './tool-arguments.js';

type Properties = Readonly<Record<string, object>>;

export interface MetaToolSpec {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Properties;
  readonly required?: readonly string[];
  readonly output: Properties;
  readonly answers: readonly string[];
  run(args: ToolArguments, scope: Scope): object | Promise<object>;
}

/** A tool that only looks things up in the catalog, within what its caller may see. */
export function metaTool(spec: MetaToolSpec): MetaTool {
  const { name, title, description, input, required = [], output, answers } = spec;
  return {
    name,
    definition: {
      name,
      title,
      description,
      inputSchema: { type: 'object', properties: input, required, additionalProperties: false },
      outputSchema: { type: 'object', properties: output, required: answers },
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    async call(args, { scope }) {
      try {
        if (!isObject(args)) throw new ArgumentError('arguments must be an object');
        return answer(await spec.run(new ToolArguments(args), scope));
      } catch (error) {
        if (error instanceof ArgumentError) return failure(error.message);
        throw error;
      }
    },
  };
}

/** The same twice: for programs, and as text for models and older clients. */
const answer = (structuredContent: object): JsonText =>
  JsonText.of({
    content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
    structuredContent,
  });

const failure = (text: string): JsonText => JsonText.of({ content: [{ type: 'text', text }], isError: true });
