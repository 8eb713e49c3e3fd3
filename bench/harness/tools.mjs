/** `echo`, which is called, among as many tools as a large server lists, with descriptions of realistic length. */
export const toolsOf = (count) =>
  Array.from({ length: count }, (_, index) => tool(index === 0 ? 'echo' : `search_records_${index}`, index));

export const TOOLS = toolsOf(200);

function tool(name, index) {
  return {
    name,
    title: `Search records ${index}`,
    description:
      `Searches the records of collection ${index} by full text and by field. Returns at most \`limit\` matches, ` +
      'best first, each with its id, a summary and the requested fields. Use it before reading a record.',
    inputSchema: {
      type: 'object',
      properties: {
        message: { type: 'string', description: 'Search text', minLength: 1, maxLength: 1000 },
        fields: { type: 'array', items: { type: 'string' }, description: 'Fields to return; all by default' },
        order: { type: 'string', enum: ['relevance', 'newest', 'oldest'], default: 'relevance' },
        limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
      },
      required: ['message'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  };
}
