// Server on the Go SDK: server stdio | http | json | stateless [port], see ../../README.md.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type (
	text struct {
		Text string `json:"text"`
	}
	total struct {
		Sum float64 `json:"sum"`
	}
	steps struct {
		Steps int `json:"steps"`
	}
	duration struct {
		Ms int `json:"ms"`
	}
	question struct {
		Question string `json:"question"`
	}
	address struct {
		URI string `json:"uri"`
	}
	none struct{}
)

var cancelled atomic.Int64

func answer(value any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(value)}}}
}

func tool[In, Out any](server *mcp.Server, name string, handler mcp.ToolHandlerFor[In, Out]) {
	mcp.AddTool(server, &mcp.Tool{Name: name}, handler)
}

func addTools(server *mcp.Server) {
	tool(server, "echo", func(_ context.Context, _ *mcp.CallToolRequest, in text) (*mcp.CallToolResult, any, error) {
		return answer(in.Text), nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "sum", InputSchema: sumSchema}, func(_ context.Context, _ *mcp.CallToolRequest, in map[string]float64) (*mcp.CallToolResult, total, error) {
		return nil, total{in["a"] + in["b"]}, nil
	})
	tool(server, "log", func(ctx context.Context, r *mcp.CallToolRequest, in text) (*mcp.CallToolResult, any, error) {
		err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: in.Text})
		return answer("logged"), nil, err
	})
	tool(server, "progress", func(ctx context.Context, r *mcp.CallToolRequest, in steps) (*mcp.CallToolResult, any, error) {
		for step := 1; step <= in.Steps; step++ {
			params := &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(step), Total: float64(in.Steps)}
			if err := r.Session.NotifyProgress(ctx, params); err != nil {
				return nil, nil, err
			}
		}
		return answer("done"), nil, nil
	})
	tool(server, "slow", func(ctx context.Context, _ *mcp.CallToolRequest, in duration) (*mcp.CallToolResult, any, error) {
		select {
		case <-time.After(time.Duration(in.Ms) * time.Millisecond):
			return answer("slept"), nil, nil
		case <-ctx.Done():
			cancelled.Add(1)
			return nil, nil, ctx.Err()
		}
	})
	tool(server, "cancelled", func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
		return answer(cancelled.Load()), nil, nil
	})
	tool(server, "capabilities", func(_ context.Context, r *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
		return answer(capabilities(r.Session.InitializeParams().Capabilities)), nil, nil
	})
	tool(server, "ask", func(ctx context.Context, r *mcp.CallToolRequest, in question) (*mcp.CallToolResult, any, error) {
		result, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: in.Question, RequestedSchema: answerSchema})
		if err != nil {
			return nil, nil, err
		}
		return answer(fmt.Sprintf("%s:%v", result.Action, result.Content["answer"])), nil, nil
	})
	tool(server, "touch", func(ctx context.Context, _ *mcp.CallToolRequest, in address) (*mcp.CallToolResult, any, error) {
		return answer("touched"), nil, server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: in.URI})
	})
	hasExtra := false
	grow := func() {
		if hasExtra = !hasExtra; hasExtra {
			tool(server, "extra", func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
				return answer("extra"), nil, nil
			})
		} else {
			server.RemoveTools("extra")
		}
	}
	tool(server, "grow", func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
		grow()
		return answer(hasExtra), nil, nil
	})
	if os.Getenv("INTEROP_EXTRA") == "1" {
		grow()
	}
}

func capabilities(of *mcp.ClientCapabilities) string {
	var names []string
	if of.Elicitation != nil {
		names = append(names, "elicitation")
	}
	if of.RootsV2 != nil {
		names = append(names, "roots")
	}
	return strings.Join(names, ",")
}

func schemaOf(kind string, members ...string) map[string]any {
	properties := map[string]any{}
	for _, member := range members {
		properties[member] = map[string]any{"type": kind}
	}
	return map[string]any{"type": "object", "properties": properties, "required": members}
}

var (
	sumSchema    = schemaOf("number", "a", "b")
	answerSchema = schemaOf("string", "answer")
)

func newServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "interop-go", Version: "1.0.0"}, &mcp.ServerOptions{
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	addTools(server)
	read := func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		content := &mcp.ResourceContents{URI: r.Params.URI, MIMEType: "text/plain", Text: "content of " + r.Params.URI}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{content}}, nil
	}
	server.AddResource(&mcp.Resource{URI: "note://one", Name: "one"}, read)
	server.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "note://{name}", Name: "note"}, read)
	greet := &mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "name", Required: true}}}
	server.AddPrompt(greet, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		content := &mcp.TextContent{Text: "Hello " + r.Params.Arguments["name"]}
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: content}}}, nil
	})
	return server
}

func serveHTTP(server *mcp.Server, mode, port string) error {
	idleMs, _ := strconv.Atoi(os.Getenv("INTEROP_IDLE_MS"))
	options := &mcp.StreamableHTTPOptions{
		JSONResponse:   mode != "http",
		Stateless:      mode == "stateless",
		SessionTimeout: time.Duration(idleMs) * time.Millisecond,
	}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, options)
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/mcp\n", listener.Addr())
	return http.Serve(listener, handler)
}

func main() {
	mode, port := os.Args[1], "0"
	if len(os.Args) > 2 {
		port = os.Args[2]
	}
	var err error
	if server := newServer(); mode == "stdio" {
		err = server.Run(context.Background(), &mcp.StdioTransport{})
	} else {
		err = serveHTTP(server, mode, port)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
