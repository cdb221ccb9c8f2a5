package cell

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/userdb"
)

// Me is the name of who runs this process: $USER, without it that of the user id.
func Me() (string, error) {
	if name := os.Getenv("USER"); name != "" {
		return name, nil
	}
	u, err := userdb.Current()
	if err != nil {
		return "", err
	}
	return u.Username, nil
}

// TokenOptions returns where to connect with a token. The server checks it where other
// programs connect, so a connection with a token never stays within the process.
func (c Cell) TokenOptions(token string) bus.ConnOptions {
	o := bus.ConnOptions{Socket: c.Socket(), Token: token, Identity: bus.Identity{Role: bus.User}}
	b, err := c.ReadBootstrap()
	if err != nil || b["server_url"] == "" || c.here() {
		return o
	}
	o.Socket, o.URL, o.TLS = "", b["server_url"], c.authority(b)
	return o
}

// GuestOptions returns where to connect without credentials: on qmaster's own host, where the kernel identifies the
// user, the cell's socket, elsewhere the server as a guest, who can log in.
func (c Cell) GuestOptions() bus.ConnOptions {
	o := c.TokenOptions("")
	if o.URL != "" {
		o.Identity = bus.NewGuest()
	}
	return o
}

// CertOptions returns where to connect with a TLS certificate: always over the network. It fails when the cell's server
// is not on it.
func (c Cell) CertOptions(cert, key string) (bus.ConnOptions, error) {
	b, err := c.ReadBootstrap()
	if err == nil && (b["server_url"] == "" || b["server_ca"] == "") {
		err = errors.New("qmaster of this cell has no address with TLS (server_url and server_ca in bootstrap)")
	}
	o := bus.ConnOptions{URL: b["server_url"], TLS: c.authority(b), Identity: bus.Identity{Role: bus.User}}
	o.TLS.Cert, o.TLS.Key = cert, key
	return o, err
}

// authority is what a client trusts the server by.
func (c Cell) authority(bootstrap map[string]string) (files bus.TLSFiles) {
	if ca := bootstrap["server_ca"]; ca != "" {
		files.CA = filepath.Join(c.Common(), ca)
	}
	return files
}

// ConnOptions returns where to connect as id: on qmaster's own host the cell's socket,
// elsewhere the server that bootstrap(5) names, with the key or the certificate in
// KeyFile.
func (c Cell) ConnOptions(id bus.Identity) bus.ConnOptions {
	if c.inside != nil {
		return bus.ConnOptions{Inside: c.inside, Identity: id}
	}
	o := bus.ConnOptions{Socket: c.Socket(), Identity: id}
	b, err := c.ReadBootstrap()
	if err != nil || b["server_url"] == "" || c.here() {
		return o
	}
	if id.Role == bus.User || id.Role == bus.Admin {
		o.Identity.Name, _ = Me() // a key that names its owner replaces it
	}
	o.Socket, o.URL, o.Seed, o.TLS = "", b["server_url"], c.KeyFile(o.Identity), c.authority(b)
	pair := strings.TrimSuffix(o.Seed, keySuffix)
	if _, err := os.Stat(pair + ".crt"); err == nil {
		o.TLS.Cert, o.TLS.Key = pair+".crt", pair+".key"
	}
	return o
}

// here reports whether qmaster's socket is this host's, and not only seen from
// here because the cell lies on a shared file system.
func (c Cell) here() bool {
	if _, err := os.Stat(c.Socket()); err != nil {
		return false
	}
	host, err := os.Hostname()
	master, _ := os.ReadFile(c.ActQMaster())
	return err == nil && host == strings.TrimSpace(string(master))
}

const keySuffix = ".nk"

// keyVariable names the environment variable with the path of a person's key.
const keyVariable = "QUILL_KEY"

// KeyFile is where the nkey seed of an identity lies: a person's in
// $QUILL_KEY, else in the home directory, ~/.quill/CELL.nk; a daemon's in the cell,
// keys/ROLE-NAME.nk. Files with the endings .crt and .key beside it are taken
// for a TLS certificate.
func (c Cell) KeyFile(id bus.Identity) string {
	if id.Role != bus.User && id.Role != bus.Admin {
		return c.IssuedKey(id)
	}
	if f := os.Getenv(keyVariable); f != "" {
		return f
	}
	return filepath.Join(os.Getenv("HOME"), ".quill", c.Name+keySuffix)
}

// IssuedKey is where `quill key` puts the seed that it makes for another user.
func (c Cell) IssuedKey(id bus.Identity) string {
	return filepath.Join(c.Dir(), "keys", string(id.Role)+"-"+id.Name+keySuffix)
}

// Keys is the file with the public halves of all keys that may come in.
func (c Cell) Keys() string { return filepath.Join(c.Dir(), "keys", "registered") }
