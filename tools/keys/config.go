package keys

import (
	"fmt"
	"io"
	"strings"

	"github.com/quill-grid/quill/pkg/bus"
)

// Config writes the configuration of an external NATS server that accepts these
// keys and no others, each with the rights of its role. It is
// the part that a cell needs, with the streams in store: address, TLS and cluster
// are the administrator's.
func Config(w io.Writer, keys []bus.Key, store string, durable bool) error {
	sync := "always  # what is acknowledged survives a power cut"
	if !durable {
		sync = "1s      # a crash of the machine may take the last second"
	}
	if _, err := fmt.Fprintf(w, head, store, sync, bus.PayloadMax); err != nil {
		return err
	}
	for _, k := range keys {
		if err := writeUser(w, k); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "  ]\n}\n")
	return err
}

const head = `# For nats-server, made by "quill nats-config": include it in the server's own
# configuration and reload ("nats-server --signal reload") when keys change.
jetstream {
  store_dir: %q
  sync_interval: %s
}
max_payload: %d
no_fast_producer_stall: true
authorization {
  users: [
`

func writeUser(w io.Writer, k bus.Key) error {
	allow := bus.Permissions(k.Identity)
	answers := ""
	if allow.Respond {
		answers = fmt.Sprintf("\n        allow_responses: { max: %d, expires: \"%s\" }", bus.ResponsesMax, bus.ResponseLife)
	}
	_, err := fmt.Fprintf(w, `    { nkey: %s  # %s
      permissions: {
        publish: [%s]
        subscribe: [%s]%s
      }
    }
`, k.Public, k.Identity, quoted(allow.Publish), quoted(allow.Subscribe), answers)
	return err
}

func quoted(subjects []string) string { return `"` + strings.Join(subjects, `", "`) + `"` }
