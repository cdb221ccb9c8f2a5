package client

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/quill-grid/quill/pkg/bus"
)

// ConnOptions says where to connect as id: the cell's socket or, on a host
// where there is none, the server that bootstrap(5) names, with a key.
func (c Cell) ConnOptions(id bus.Identity) bus.ConnOptions {
	o := bus.ConnOptions{Socket: c.Socket(), Identity: id}
	if _, err := os.Stat(o.Socket); err == nil {
		return o
	}
	b, err := c.ReadBootstrap()
	if err != nil || b["server_url"] == "" {
		return o
	}
	if id.Role == bus.User || id.Role == bus.Admin {
		o.Identity.Name = os.Getenv("USER")
	}
	o.Socket, o.URL = "", b["server_url"]
	o.Seed = c.keyFile(o.Identity)
	o.TLS = bus.TLSFiles{CA: b["server_ca"]}
	return o
}

// keyFile is where the nkey seed of an identity is looked for: $QUILL_KEY, else
// a person's in his home, a daemon's in the cell.
func (c Cell) keyFile(id bus.Identity) string {
	if f := os.Getenv("QUILL_KEY"); f != "" {
		return f
	}
	if id.Role == bus.User || id.Role == bus.Admin {
		return filepath.Join(os.Getenv("HOME"), ".quill", c.Name+".nk")
	}
	return filepath.Join(c.Dir(), "keys", bus.EncodeName(id.String())+".nk")
}

// ReadBootstrap returns the parameters of the bootstrap file.
func (c Cell) ReadBootstrap() (map[string]string, error) {
	f, err := os.Open(c.Bootstrap())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, value, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		if name != "" && name[0] != '#' {
			out[name] = strings.TrimSpace(value)
		}
	}
	return out, nil
}

// WriteBootstrap writes the file that ReadBootstrap reads.
func (c Cell) WriteBootstrap(params [][2]string) error {
	var b strings.Builder
	for _, p := range params {
		fmt.Fprintf(&b, "%-23s %s\n", p[0], p[1])
	}
	return os.WriteFile(c.Bootstrap(), []byte(b.String()), 0o644)
}
