package keys

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
)

// Who is an identity that may connect: a role, one of Roles, and a name. Key is the public half of its pair.
type (
	Who = bus.Identity
	Key = bus.Key
)

// Roles are the roles that keys are made for, and the usual name in a role that
// one program of the cell has.
var Roles = []struct {
	Role  bus.Role
	Name  string // "": the key's owner must be named
	Usage string
}{
	{bus.User, "", "a person; requests are made in this user's name"},
	{bus.Admin, "", "a person who also sees the events that are not for everybody"},
	{bus.Host, "", "the execution daemon of a host"},
	{bus.Scheduler, "schedd", "the scheduler, when it runs on another host than qmaster"},
	{bus.QMaster, "qmaster", "qmaster itself, for an external NATS server"},
}

// Issue makes a pair of keys for who, registers the public half, and returns it and
// the file with the secret half, which only this user can read.
func Issue(cell cell.Cell, who Who) (key Key, seedFile string, err error) {
	if err := openDir(cell); err != nil {
		return key, "", err
	}
	key, seed, err := bus.NewKey(who)
	if err != nil {
		return key, "", err
	}
	seedFile = cell.IssuedKey(who)
	if _, err := os.Stat(seedFile); err == nil {
		return key, "", fmt.Errorf("%s has a key: %s; revoke it first", who, seedFile)
	}
	// First the registered half: a secret that opens nothing is found to be
	// useless, a name that cannot be is found out here.
	if err := bus.AddKey(cell.Keys(), key); err != nil {
		return key, "", err
	}
	return key, seedFile, writeSeed(seedFile, seed)
}

// Register accepts a key whose secret half only its owner has.
func Register(cell cell.Cell, who Who, public string) error {
	if err := openDir(cell); err != nil {
		return err
	}
	return bus.AddKey(cell.Keys(), bus.Key{Public: public, Identity: who})
}

// openDir makes the directory of a cell that never ran: everybody may look into
// it, though not at the keys.
func openDir(cell cell.Cell) error { return os.MkdirAll(cell.Dir(), 0o755) }

// Own makes the pair of keys of the person who runs this, keeps the secret half
// where commands look for it, and returns the other, to be registered.
func Own(cell cell.Cell, name string) (key Key, seedFile string, err error) {
	who := Who{Role: bus.User, Name: name}
	key, seed, err := bus.NewKey(who)
	if err != nil {
		return key, "", err
	}
	seedFile = cell.KeyFile(who)
	return key, seedFile, writeSeed(seedFile, seed)
}

// writeSeed writes a secret; it replaces none.
func writeSeed(path string, seed []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(seed)
	return errors.Join(err, f.Sync(), f.Close())
}

// List returns the registered keys in the order in which they were registered.
func List(cell cell.Cell) ([]bus.Key, error) {
	list, err := bus.ReadKeys(cell.Keys())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if errors.Is(err, os.ErrPermission) {
		return nil, fmt.Errorf("the list of keys can't be read: run quill key as the user who runs qmaster: %w", err)
	}
	return list, err
}

// Revoke takes back the key with that public half, or all keys of who, and
// removes their issued secrets. It is an error if there is none.
func Revoke(cell cell.Cell, public string, who Who) ([]bus.Key, error) {
	gone, err := bus.RevokeKeys(cell.Keys(), func(k bus.Key) bool {
		return k.Public == public || k.Identity == who
	})
	if err == nil && len(gone) == 0 {
		err = errors.New("no such key is registered")
	}
	left, listErr := List(cell)
	err = errors.Join(err, listErr)
	for _, k := range gone {
		if !owns(left, k.Identity) {
			if e := os.Remove(cell.IssuedKey(k.Identity)); !errors.Is(e, os.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
	}
	return gone, err
}

func owns(keys []bus.Key, who Who) bool {
	for _, k := range keys {
		if k.Identity == who {
			return true
		}
	}
	return false
}
