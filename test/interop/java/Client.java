import io.modelcontextprotocol.client.McpAsyncClient;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.spec.McpSchema;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Client on the Java SDK: commands and events as JSON lines, see ../README.md. */
public final class Client {
    private static final McpJsonMapper JSON = McpJsonDefaults.getMapper();
    private static final Map<Object, Disposable> RUNNING = new ConcurrentHashMap<>();
    private static McpAsyncClient client;

    private static Mono<Void> write(Map<String, ?> message) {
        try {
            byte[] line = (JSON.writeValueAsString(message) + "\n").getBytes(StandardCharsets.UTF_8);
            synchronized (JSON) {
                System.out.write(line);
                System.out.flush();
            }
        } catch (IOException error) {
            System.err.println(error);
        }
        return Mono.empty();
    }

    private static String textOf(List<? extends McpSchema.Content> parts) {
        return parts.stream()
                .filter(McpSchema.TextContent.class::isInstance)
                .map(part -> ((McpSchema.TextContent) part).text())
                .collect(Collectors.joining());
    }

    private static Mono<Map<String, Object>> connect(Map<String, Object> command) {
        String url = (String) command.get("url");
        int path = url.lastIndexOf('/');
        var transport = HttpClientStreamableHttpTransport.builder(url.substring(0, path))
                .endpoint(url.substring(path))
                .openConnectionOnStartup(false)
                .build();
        client = McpClient.async(transport)
                .requestTimeout(Duration.ofSeconds(30))
                .clientInfo(new McpSchema.Implementation("interop-java", "1.0.0"))
                .capabilities(McpSchema.ClientCapabilities.builder().elicitation().build())
                .elicitation(request -> {
                    write(Map.of("event", "elicit", "message", request.message()));
                    Map<String, Object> content = Map.of("answer", command.get("answer"));
                    Map<String, Object> result = Map.of("action", "accept", "content", content);
                    return Mono.just(JSON.convertValue(result, McpSchema.ElicitResult.class));
                })
                .toolsChangeConsumer(tools -> write(Map.of("event", "toolsChanged")))
                // The SDK reads the resource again and passes its contents on.
                .resourcesUpdateConsumer(contents -> write(Map.of("event", "updated", "uri", contents.get(0).uri())))
                .loggingConsumer(message -> write(Map.of("event", "log", "data", message.data())))
                .progressConsumer(one -> write(Map.of(
                        "event", "progress", "call", one.progressToken(), "progress", one.progress())))
                .build();
        return client.initialize().map(result -> Map.of("server", result.serverInfo().name()));
    }

    @SuppressWarnings("unchecked")
    private static Mono<Map<String, Object>> call(Map<String, Object> command) {
        Map<String, Object> request = new HashMap<>();
        request.put("name", command.get("name"));
        request.put("arguments", command.getOrDefault("arguments", Map.of()));
        if (command.containsKey("progress")) request.put("_meta", Map.of("progressToken", command.get("id")));
        return client.callTool(JSON.convertValue(request, McpSchema.CallToolRequest.class)).map(result -> {
            Map<String, Object> answer = new HashMap<>();
            answer.put("text", textOf(result.content()));
            answer.put("structured", result.structuredContent());
            answer.put("isError", Boolean.TRUE.equals(result.isError()));
            return answer;
        });
    }

    private static Map<String, Object> names(List<String> names) {
        return Map.of("names", names);
    }

    private static Map<String, Object> none(Object ignored) {
        return Map.of();
    }

    @SuppressWarnings("unchecked")
    private static Mono<Map<String, Object>> run(Map<String, Object> command) {
        String uri = (String) command.get("uri");
        return switch ((String) command.get("op")) {
            case "connect" -> connect(command);
            case "call" -> call(command);
            case "cancel" -> Mono.fromRunnable(() -> RUNNING.get(command.get("call")).dispose());
            case "tools" -> client.listTools().map(it -> names(it.tools().stream().map(McpSchema.Tool::name).toList()));
            case "resources" -> client.listResources()
                    .map(it -> names(it.resources().stream().map(McpSchema.Resource::uri).toList()));
            case "templates" -> client.listResourceTemplates()
                    .map(it -> names(it.resourceTemplates().stream().map(McpSchema.ResourceTemplate::uriTemplate).toList()));
            case "prompts" -> client.listPrompts()
                    .map(it -> names(it.prompts().stream().map(McpSchema.Prompt::name).toList()));
            case "read" -> client.readResource(new McpSchema.ReadResourceRequest(uri)).map(it -> Map.of(
                    "text", ((McpSchema.TextResourceContents) it.contents().get(0)).text()));
            case "prompt" -> client.getPrompt(new McpSchema.GetPromptRequest(
                            (String) command.get("name"), (Map<String, Object>) command.get("arguments")))
                    .map(it -> Map.of("text", textOf(it.messages().stream().map(McpSchema.PromptMessage::content).toList())));
            case "subscribe" -> client.subscribeResource(new McpSchema.SubscribeRequest(uri)).map(Client::none);
            case "unsubscribe" -> client.unsubscribeResource(new McpSchema.UnsubscribeRequest(uri)).map(Client::none);
            case "level" -> client.setLoggingLevel(JSON.convertValue(command.get("level"), McpSchema.LoggingLevel.class))
                    .map(Client::none);
            case "ping" -> client.ping().map(Client::none);
            case "disconnect" -> client.closeGracefully().map(Client::none);
            default -> Mono.error(new IllegalArgumentException("unknown command"));
        };
    }

    @SuppressWarnings("unchecked")
    public static void main(String[] arguments) throws IOException {
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            Map<String, Object> command = JSON.readValue(line, Map.class);
            Object id = command.get("id");
            Disposable running = run(command)
                    .defaultIfEmpty(Map.of())
                    .subscribe(
                            result -> write(Map.of("id", id, "result", result)),
                            error -> write(Map.of("id", id, "error", String.valueOf(error))));
            RUNNING.put(id, running);
        }
        System.exit(0);
    }
}
