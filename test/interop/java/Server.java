import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpServerFeatures;
import io.modelcontextprotocol.server.McpStatelessServerFeatures;
import io.modelcontextprotocol.server.McpSyncServer;
import io.modelcontextprotocol.server.McpSyncServerExchange;
import io.modelcontextprotocol.server.transport.HttpServletStatelessServerTransport;
import io.modelcontextprotocol.server.transport.HttpServletStreamableServerTransportProvider;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema;
import jakarta.servlet.Servlet;
import java.io.File;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.catalina.startup.Tomcat;

/** Server on the Java SDK: Server stdio | http | stateless [port], see ../README.md. */
public final class Server {
    private static final McpJsonMapper JSON = McpJsonDefaults.getMapper();
    private static final Map<String, Map<String, Object>> TOOLS = new LinkedHashMap<>();
    private static final AtomicInteger CANCELLED = new AtomicInteger();
    private static boolean hasExtra = "1".equals(System.getenv("INTEROP_EXTRA"));
    private static McpSyncServer server;

    static {
        TOOLS.put("echo", schema("string", "text"));
        TOOLS.put("sum", schema("number", "a", "b"));
        TOOLS.put("log", schema("string", "text"));
        TOOLS.put("progress", schema("number", "steps"));
        TOOLS.put("slow", schema("number", "ms"));
        TOOLS.put("cancelled", schema("string"));
        TOOLS.put("capabilities", schema("string"));
        TOOLS.put("ask", schema("string", "question"));
        TOOLS.put("touch", schema("string", "uri"));
        TOOLS.put("grow", schema("string"));
        if (hasExtra) TOOLS.put("extra", schema("string"));
    }

    private static Map<String, Object> schema(String kind, String... members) {
        Map<String, Object> properties =
                Arrays.stream(members).collect(Collectors.toMap(one -> one, one -> Map.of("type", kind)));
        return Map.of("type", "object", "properties", properties, "required", List.of(members));
    }

    private static McpSchema.CallToolResult text(Object value) {
        return McpSchema.CallToolResult.builder().addTextContent(String.valueOf(value)).isError(false).build();
    }

    private static McpSchema.Tool tool(String name) {
        var builder = McpSchema.Tool.builder(name, TOOLS.getOrDefault(name, schema("string")));
        return (name.equals("sum") ? builder.outputSchema(schema("number", "sum")) : builder).build();
    }

    private static McpSchema.CallToolResult run(McpSyncServerExchange exchange, McpSchema.CallToolRequest request) {
        Map<String, Object> arguments = request.arguments() == null ? Map.of() : request.arguments();
        return switch (request.name()) {
            case "echo" -> text(arguments.get("text"));
            case "sum" -> sum(number(arguments, "a") + number(arguments, "b"));
            case "log" -> {
                Map<String, Object> message = Map.of("level", "info", "data", arguments.get("text"), "logger", "interop");
                exchange.loggingNotification(JSON.convertValue(message, McpSchema.LoggingMessageNotification.class));
                yield text("logged");
            }
            case "progress" -> {
                double steps = number(arguments, "steps");
                for (double step = 1; step <= steps; step++)
                    exchange.progressNotification(
                            new McpSchema.ProgressNotification(request.progressToken(), step, steps, null));
                yield text("done");
            }
            case "slow" -> slow((long) number(arguments, "ms"));
            case "cancelled" -> text(CANCELLED.get());
            case "capabilities" -> text(capabilities(exchange.getClientCapabilities()));
            case "ask" -> {
                Map<String, Object> question = Map.of(
                        "mode", "form", "message", arguments.get("question"), "requestedSchema", schema("string", "answer"));
                var result = exchange.createElicitation(JSON.convertValue(question, McpSchema.ElicitFormRequest.class));
                yield text(result.action().name().toLowerCase() + ":" + result.content().get("answer"));
            }
            case "touch" -> {
                server.notifyResourcesUpdated(new McpSchema.ResourcesUpdatedNotification((String) arguments.get("uri")));
                yield text("touched");
            }
            case "grow" -> grow();
            default -> text("extra");
        };
    }

    private static String capabilities(McpSchema.ClientCapabilities of) {
        Map<?, ?> members = JSON.convertValue(of, Map.class);
        return members.keySet().stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    private static double number(Map<String, Object> arguments, String member) {
        return ((Number) arguments.get(member)).doubleValue();
    }

    private static McpSchema.CallToolResult sum(double sum) {
        Map<String, Object> structured = Map.of("sum", sum);
        return McpSchema.CallToolResult.builder().addTextContent(String.valueOf(sum)).structuredContent(structured).build();
    }

    private static McpSchema.CallToolResult slow(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException error) {
            CANCELLED.incrementAndGet();
            throw new IllegalStateException(error);
        }
        return text("slept");
    }

    /** Adding and removing a tool notifies the clients. */
    private static McpSchema.CallToolResult grow() {
        hasExtra = !hasExtra;
        if (hasExtra) server.addTool(specification("extra"));
        else server.removeTool("extra");
        return text(hasExtra);
    }

    private static McpServerFeatures.SyncToolSpecification specification(String name) {
        return new McpServerFeatures.SyncToolSpecification(tool(name), Server::run);
    }

    private static McpSchema.ReadResourceResult read(Object context, McpSchema.ReadResourceRequest request) {
        Map<String, Object> content =
                Map.of("uri", request.uri(), "mimeType", "text/plain", "text", "content of " + request.uri());
        return JSON.convertValue(Map.of("contents", List.of(content)), McpSchema.ReadResourceResult.class);
    }

    private static McpSchema.GetPromptResult greet(Object context, McpSchema.GetPromptRequest request) {
        var content = new McpSchema.TextContent("Hello " + request.arguments().get("name"));
        return new McpSchema.GetPromptResult(null, List.of(new McpSchema.PromptMessage(McpSchema.Role.USER, content)));
    }

    private static final McpSchema.Resource NOTE = McpSchema.Resource.builder("note://one", "one").build();
    private static final McpSchema.ResourceTemplate NOTES =
            McpSchema.ResourceTemplate.builder("note://{name}", "note").build();
    private static final McpSchema.Prompt GREET =
            new McpSchema.Prompt("greet", null, List.of(new McpSchema.PromptArgument("name", null, true)));

    private static McpSchema.ServerCapabilities capabilities(boolean stateless) {
        var builder = McpSchema.ServerCapabilities.builder().tools(!stateless).resources(!stateless, !stateless).prompts(false);
        return (stateless ? builder : builder.logging()).build();
    }

    private static <S extends McpServer.SyncSpecification<S>> void build(McpServer.SyncSpecification<S> specification) {
        server = specification
                .serverInfo("interop-java", "1.0.0")
                .capabilities(capabilities(false))
                .tools(TOOLS.keySet().stream().map(Server::specification).toList())
                .resources(List.of(new McpServerFeatures.SyncResourceSpecification(NOTE, Server::read)))
                .resourceTemplates(List.of(new McpServerFeatures.SyncResourceTemplateSpecification(NOTES, Server::read)))
                .prompts(List.of(new McpServerFeatures.SyncPromptSpecification(GREET, Server::greet)))
                .build();
    }

    private static Servlet stateless() {
        var transport = HttpServletStatelessServerTransport.builder().messageEndpoint("/mcp").build();
        McpServer.sync(transport)
                .serverInfo("interop-java", "1.0.0")
                .capabilities(capabilities(true))
                .tools(TOOLS.keySet().stream()
                        .map(name -> new McpStatelessServerFeatures.SyncToolSpecification(
                                tool(name), (McpTransportContext context, McpSchema.CallToolRequest request) -> run(null, request)))
                        .toList())
                .resources(List.of(new McpStatelessServerFeatures.SyncResourceSpecification(NOTE, Server::read)))
                .resourceTemplates(List.of(new McpStatelessServerFeatures.SyncResourceTemplateSpecification(NOTES, Server::read)))
                .prompts(List.of(new McpStatelessServerFeatures.SyncPromptSpecification(GREET, Server::greet)))
                .build();
        return transport;
    }

    private static Servlet stateful() {
        var transport = HttpServletStreamableServerTransportProvider.builder().mcpEndpoint("/mcp").build();
        build(McpServer.sync(transport));
        return transport;
    }

    private static void serve(Servlet servlet, int port) throws Exception {
        Tomcat tomcat = new Tomcat();
        String directory = System.getProperty("java.io.tmpdir");
        tomcat.setBaseDir(directory);
        tomcat.setPort(port);
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        var context = tomcat.addContext("", new File(directory).getAbsolutePath());
        var wrapper = Tomcat.addServlet(context, "mcp", servlet);
        wrapper.setAsyncSupported(true);
        context.addServletMappingDecoded("/mcp/*", "mcp");
        tomcat.start();
        System.out.println("http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + "/mcp");
        tomcat.getServer().await();
    }

    public static void main(String[] arguments) throws Exception {
        java.util.logging.LogManager.getLogManager().reset();
        int port = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 0;
        switch (arguments[0]) {
            case "stdio" -> build(McpServer.sync(new StdioServerTransportProvider(JSON)));
            case "stateless" -> serve(stateless(), port);
            default -> serve(stateful(), port);
        }
    }
}
