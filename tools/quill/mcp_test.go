package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

// callTool calls a tool of quill mcp as an agent does, by the SDK's client, and writes the result, text and structure,
// to the file result:
//
//	[!] tool NAME JSON         over standard input and output
//	[!] tool @FILE NAME JSON   over HTTP, at the address that the file ends with, with $QUILL_TOKEN
//	tool list                  the names of the tools and their annotations
//	[!] tool resource URI      a resource
func callTool(ts *testscript.TestScript, neg bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var transport sdk.Transport
	if file, ok := strings.CutPrefix(args[0], "@"); ok {
		args = args[1:]
		words := strings.Fields(ts.ReadFile(file))
		transport = &sdk.StreamableClientTransport{Endpoint: words[len(words)-1],
			HTTPClient: &http.Client{Transport: withToken(ts.Getenv("QUILL_TOKEN"))}, DisableStandaloneSSE: true, MaxRetries: -1}
	} else {
		command := exec.CommandContext(ctx, "quill", "mcp")
		for _, name := range []string{"PATH", "HOME", "USER", "SGE_ROOT", "SGE_CELL", "QUILL_TOKEN", "TESTSCRIPT_COMMAND"} {
			command.Env = append(command.Env, name+"="+ts.Getenv(name))
		}
		command.Stderr = os.Stderr
		transport = &sdk.CommandTransport{Command: command}
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "robot", Version: "2.0"}, nil).Connect(ctx, transport, nil)
	if err != nil && neg {
		return
	}
	ts.Check(err)
	defer session.Close()
	var out any
	failed := false
	if args[0] == "list" && len(args) == 1 {
		out, err = session.ListTools(ctx, nil)
	} else if args[0] == "resource" {
		if out, err = session.ReadResource(ctx, &sdk.ReadResourceParams{URI: args[1]}); err != nil && neg {
			return
		}
	} else {
		var result *sdk.CallToolResult
		result, err = session.CallTool(ctx, &sdk.CallToolParams{Name: args[0], Arguments: json.RawMessage(args[1])})
		out, failed = result, err == nil && result.IsError
	}
	ts.Check(err)
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	ts.Check(e.Encode(out))
	ts.Check(os.WriteFile(ts.MkAbs("result"), text.Bytes(), 0o644))
	if failed != neg {
		ts.Fatalf("failed is %t: %s", failed, text.String())
	}
}

// withToken sends a token with each request.
type withToken string

func (t withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if t != "" {
		r.Header.Set("Authorization", "Bearer "+string(t))
	}
	return http.DefaultTransport.RoundTrip(r)
}
