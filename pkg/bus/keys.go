package bus

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nkeys"
	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/pkg/archive"
)

// Key is a line of a key file: the public half of an nkey, and who comes in
// with it. A user may have several.
type Key struct {
	Public   string
	Identity Identity
}

// NewKey makes a pair of keys for id. seed is what its owner keeps: the text of
// a file that says "SEED ROLE NAME", as ConnOptions.Seed wants it.
func NewKey(id Identity) (key Key, seed []byte, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return Key{}, nil, err
	}
	public, err := pair.PublicKey()
	if err != nil {
		return Key{}, nil, err
	}
	secret, err := pair.Seed()
	if err != nil {
		return Key{}, nil, err
	}
	return Key{public, id}, fmt.Appendf(nil, "%s %s\n", secret, id), nil
}

// ParseKey reads a line "PUBLICKEY ROLE NAME".
func ParseKey(line string) (Key, error) {
	word := strings.Fields(line)
	if len(word) != 3 {
		return Key{}, errors.New(`is not "PUBLICKEY ROLE NAME"`)
	}
	k := Key{word[0], Identity{Role: Role(word[1]), Name: word[2]}}
	return k, k.validate()
}

func (k Key) validate() error {
	switch {
	case !nkeys.IsValidPublicUserKey(k.Public):
		return fmt.Errorf("%q is no public key of a user", k.Public)
	case !k.Identity.Known() || k.Identity.Role == Guest || strings.ContainsAny(k.Identity.Name, " \t\n#/"):
		return fmt.Errorf("no such identity: %s", k.Identity)
	}
	return nil
}

// ReadKeys returns the keys of a key file in order: lines "PUBLICKEY ROLE NAME",
// and comments after #.
func ReadKeys(path string) ([]Key, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var keys []Key
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		plain, _, _ := strings.Cut(lines.Text(), "#")
		if strings.TrimSpace(plain) == "" {
			continue
		}
		k, err := ParseKey(plain)
		if err != nil {
			return nil, fmt.Errorf("%s line %d: %w", path, n, err)
		}
		keys = append(keys, k)
	}
	return keys, lines.Err()
}

// ErrKeyKnown is wrapped when a key to be added is in the file.
var ErrKeyKnown = errors.New("key is registered already")

// AddKey adds a key to a key file, which is made when missing. A server that
// reads the file knows the key at once.
func AddKey(path string, k Key) error {
	if err := k.validate(); err != nil {
		return err
	}
	return changeKeys(path, func(text []byte, keys []Key) ([]byte, error) {
		for _, old := range keys {
			if old.Public == k.Public {
				return nil, fmt.Errorf("%w, for %s", ErrKeyKnown, old.Identity)
			}
		}
		if len(text) > 0 && text[len(text)-1] != '\n' {
			text = append(text, '\n')
		}
		return fmt.Appendf(text, "%s %s\n", k.Public, k.Identity), nil
	})
}

// RevokeKeys takes out of a key file the keys that the function names, and
// returns them. A server that reads the file closes their connections within
// revokeWait.
func RevokeKeys(path string, revoke func(Key) bool) (gone []Key, err error) {
	err = changeKeys(path, func(text []byte, _ []Key) ([]byte, error) {
		var left []byte
		for line := range bytes.Lines(text) {
			plain, _, _ := strings.Cut(string(line), "#")
			k, err := ParseKey(plain)
			if err == nil && revoke(k) {
				gone = append(gone, k)
				continue
			}
			left = append(left, line...)
		}
		return left, nil
	})
	return gone, err
}

// changeKeys replaces the file as a whole, one change after the other. A file
// with a line that cannot be read is left alone.
func changeKeys(path string, change func(text []byte, keys []Key) ([]byte, error)) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var keys []Key
	if err == nil {
		if keys, err = ReadKeys(path); err != nil {
			return err
		}
	}
	if text, err = change(text, keys); err != nil {
		return err
	}
	return archive.Replace(path, text, 0o600)
}

// readSeed reads the secret half from a file of NewKey, or from one that
// NATS's own tools wrote, which does not say whose it is. A file that everybody can read is refused.
func readSeed(path string) (nkeys.KeyPair, Identity, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, Identity{}, err
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o004 != 0 {
		return nil, Identity{}, fmt.Errorf("key in %s: everybody can read it, so it is not used: chmod 600 %[1]s", path)
	}
	for line := range strings.Lines(string(text)) {
		word := strings.Fields(line)
		if len(word) == 0 || !strings.HasPrefix(word[0], "SU") {
			continue
		}
		pair, err := nkeys.FromSeed([]byte(word[0]))
		if err != nil {
			return nil, Identity{}, fmt.Errorf("key in %s: %w", path, err)
		}
		if len(word) == 3 {
			return pair, Identity{Role: Role(word[1]), Name: word[2]}, nil
		}
		return pair, Identity{}, nil
	}
	return nil, Identity{}, fmt.Errorf("no nkey seed in %s", path)
}

// resolveIdentity returns the identity of a connection with a key that is owner's, when wanted is
// requested. A person acts as the owner of the key; a daemon must have its own key.
func resolveIdentity(wanted, owner Identity) (Identity, error) {
	switch {
	case owner == (Identity{}), owner == wanted:
		return wanted, nil
	case wanted.Role == User && (owner.Role == User || owner.Role == Admin):
		return owner, nil
	case wanted.Role == owner.Role && wanted.Name == "":
		return owner, nil
	}
	return wanted, fmt.Errorf("is for %s, not for %s", owner, wanted)
}
