// Client on the Go SDK: commands and events as JSON lines, see ../../README.md.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type command struct {
	ID        int            `json:"id"`
	Op        string         `json:"op"`
	URL       string         `json:"url"`
	Answer    string         `json:"answer"`
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
	Progress  bool           `json:"progress"`
	URI       string         `json:"uri"`
	Level     string         `json:"level"`
	Call      int            `json:"call"`
	Era       string         `json:"era"`
	URIs      []string       `json:"uris"`
}

type object map[string]any

var (
	lock    sync.Mutex
	output  = json.NewEncoder(os.Stdout)
	session *mcp.ClientSession
	cancels = map[int]context.CancelFunc{}
	// The resources for which the client listens.
	listened []string
)

func write(message object) {
	lock.Lock()
	defer lock.Unlock()
	_ = output.Encode(message)
}

func textOf(content []mcp.Content) string {
	text := ""
	for _, part := range content {
		if one, ok := part.(*mcp.TextContent); ok {
			text += one.Text
		}
	}
	return text
}

func connect(ctx context.Context, c command) (object, error) {
	options := &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			write(object{"event": "elicit", "message": r.Params.Message})
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": c.Answer}}, nil
		},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			write(object{"event": "toolsChanged"})
		},
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			write(object{"event": "updated", "uri": r.Params.URI})
		},
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			write(object{"event": "log", "data": r.Params.Data})
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			write(object{"event": "progress", "call": r.Params.ProgressToken, "progress": r.Params.Progress})
		},
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "interop-go", Version: "1.0.0"}, options)
	// By default, this SDK asks for revision 2026-07-28.
	revision := &mcp.ClientSessionOptions{}
	if c.Era == "2025" {
		revision.ProtocolVersion = "2025-11-25"
	}
	var err error
	session, err = client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: c.URL}, revision)
	if err != nil {
		return nil, err
	}
	result := session.InitializeResult()
	return object{"server": result.ServerInfo.Name, "protocol": result.ProtocolVersion}, nil
}

// The SDK opens a stream for each resource. It listens to changes of lists from the connection on.
func listen(ctx context.Context, c command) (object, error) {
	if _, err := unlisten(ctx, c); err != nil {
		return nil, err
	}
	for _, uri := range c.URIs {
		if err := session.Subscribe(ctx, &mcp.SubscribeParams{URI: uri}); err != nil {
			return nil, err
		}
		listened = append(listened, uri)
	}
	return nil, nil
}

// Also after a stream has ended: until then, the SDK takes the resource for subscribed.
func unlisten(ctx context.Context, _ command) (object, error) {
	for _, uri := range listened {
		if err := session.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: uri}); err != nil {
			return nil, err
		}
	}
	listened = nil
	return nil, nil
}

func call(ctx context.Context, c command) (object, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lock.Lock()
	cancels[c.ID] = cancel
	lock.Unlock()
	params := &mcp.CallToolParams{Name: c.Name, Arguments: c.Arguments}
	if c.Progress {
		params.SetProgressToken(c.ID)
	}
	if c.Level != "" {
		params.Meta = mcp.Meta{mcp.MetaKeyLogLevel: c.Level}
	}
	result, err := session.CallTool(ctx, params)
	if err != nil {
		return nil, err
	}
	return object{"text": textOf(result.Content), "structured": result.StructuredContent, "isError": result.IsError}, nil
}

func cancel(_ context.Context, c command) (object, error) {
	lock.Lock()
	defer lock.Unlock()
	cancels[c.Call]()
	return nil, nil
}

func names[T any](sequence func(func(T, error) bool), name func(T) string) (object, error) {
	found := []string{}
	for one, err := range sequence {
		if err != nil {
			return nil, err
		}
		found = append(found, name(one))
	}
	return object{"names": found}, nil
}

func read(ctx context.Context, c command) (object, error) {
	result, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: c.URI})
	if err != nil {
		return nil, err
	}
	text := ""
	for _, one := range result.Contents {
		text += one.Text
	}
	return object{"text": text}, nil
}

func prompt(ctx context.Context, c command) (object, error) {
	arguments := map[string]string{}
	for key, value := range c.Arguments {
		arguments[key] = fmt.Sprint(value)
	}
	result, err := session.GetPrompt(ctx, &mcp.GetPromptParams{Name: c.Name, Arguments: arguments})
	if err != nil {
		return nil, err
	}
	content := []mcp.Content{}
	for _, message := range result.Messages {
		content = append(content, message.Content)
	}
	return object{"text": textOf(content)}, nil
}

var operations = map[string]func(context.Context, command) (object, error){
	"connect":  connect,
	"call":     call,
	"cancel":   cancel,
	"read":     read,
	"prompt":   prompt,
	"listen":   listen,
	"unlisten": unlisten,
	"tools": func(ctx context.Context, _ command) (object, error) {
		return names(session.Tools(ctx, nil), func(one *mcp.Tool) string { return one.Name })
	},
	"resources": func(ctx context.Context, _ command) (object, error) {
		return names(session.Resources(ctx, nil), func(one *mcp.Resource) string { return one.URI })
	},
	"templates": func(ctx context.Context, _ command) (object, error) {
		return names(session.ResourceTemplates(ctx, nil), func(one *mcp.ResourceTemplate) string { return one.URITemplate })
	},
	"prompts": func(ctx context.Context, _ command) (object, error) {
		return names(session.Prompts(ctx, nil), func(one *mcp.Prompt) string { return one.Name })
	},
	"subscribe": func(ctx context.Context, c command) (object, error) {
		return nil, session.Subscribe(ctx, &mcp.SubscribeParams{URI: c.URI})
	},
	"unsubscribe": func(ctx context.Context, c command) (object, error) {
		return nil, session.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: c.URI})
	},
	"level": func(ctx context.Context, c command) (object, error) {
		return nil, session.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: mcp.LoggingLevel(c.Level)})
	},
	"ping":       func(ctx context.Context, _ command) (object, error) { return nil, session.Ping(ctx, nil) },
	"disconnect": func(context.Context, command) (object, error) { return nil, session.Close() },
}

func run(c command) {
	result, err := operations[c.Op](context.Background(), c)
	if err != nil {
		write(object{"id": c.ID, "error": err.Error()})
		return
	}
	if result == nil {
		result = object{}
	}
	write(object{"id": c.ID, "result": result})
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			panic(err)
		}
		go run(c)
	}
}
