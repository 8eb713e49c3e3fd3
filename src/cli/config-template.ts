/**
 * The file that `gatehouse init` writes: a valid configuration without servers, with an example of each part as a comment.
 */
export const CONFIG_TEMPLATE = `# Configuration of Gatehouse. \`gatehouse config check\` validates it; \`gatehouse config print\` shows it with all defaults.
# A running gateway applies a change of mcpServers, projects, auth, log and instructions at once; other keys need a restart.
#
# Any value may be "\${NAME}" or "\${NAME:-default}"; an unset variable without default stops the start.
# Environment variables override any key: GATEHOUSE__HTTP__PORT=8080.
# Relative paths are resolved against the working directory of the gateway.

http:
  host: 127.0.0.1 # beyond loopback, auth is required
  port: 3000

# Decisions of administrators, sessions, the audit log and the generated admin token.
stateDir: .gatehouse

# The format that MCP clients use. \`gatehouse config import FILE\` converts the file of another client.
mcpServers:
  # A server that the gateway starts (stdio):
  # filesystem:
  #   command: npx
  #   args: ["-y", "@modelcontextprotocol/server-filesystem", "."]
  #   tools: { disabled: [write_file] } # neither listed nor callable

  # A remote server (Streamable HTTP, or HTTP+SSE with type: sse):
  # github:
  #   url: https://api.githubcopilot.com/mcp/
  #   headers: { Authorization: "Bearer \${GITHUB_TOKEN}" }

# Clients of /projects/docs/mcp see only these servers:
# projects:
#   docs: { servers: [filesystem] }

# Client keys: \`gatehouse key create NAME --project docs\` prints an entry.
# auth:
#   apiKeys: []
`;
