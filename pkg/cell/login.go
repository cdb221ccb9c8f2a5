package cell

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/grid"
)

// login is the file of a log-in: the token, and the cell that it is for, so that no other cell of the same name gets
// it.
type login struct {
	Root  string `json:"root"`
	Token string `json:"token"`
}

// loginMax is how long the file of a log-in may be, in bytes.
const loginMax = 16 << 10

// LoginFile is where the token of a log-in lies: ~/.quill/CELL.token.
func (c Cell) LoginFile() string { return filepath.Join(os.Getenv("HOME"), ".quill", c.Name+".token") }

// Login returns the token of the log-in to the cell, "": there is none. It fails when others may read or change the
// file. A home directory of another user, as sudo may leave it in $HOME, has none of this user.
func (c Cell) Login() (token string, err error) {
	if home := os.Getenv("HOME"); home == "" || ofAnother(home) {
		return "", nil
	}
	path := c.LoginFile()
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("error: log-in: %w", err)
	}
	defer f.Close()
	if err := private(f, path); err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, loginMax))
	var has login
	if err == nil {
		err = json.Unmarshal(text, &has)
	}
	if err != nil {
		return "", fmt.Errorf("error: log-in: %s cannot be read, run quill login again: %w", path, err)
	}
	if has.Root != c.Root {
		return "", nil
	}
	return has.Token, nil
}

// ofAnother reports whether a directory belongs to another user.
func ofAnother(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return errors.Is(err, fs.ErrPermission)
	}
	return int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid()
}

// private fails when others may read the file of a log-in, or put another one in its place.
func private(f *os.File, path string) error {
	const groupAndOthers, groupAndOthersWrite = 0o077, 0o022
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("error: log-in: %w", err)
	}
	dir, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("error: log-in: %w", err)
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("error: log-in: %s is not a regular file; remove it", path)
	case int(owner) != os.Geteuid():
		return fmt.Errorf("error: log-in: %s belongs to another user (uid %d); remove it", path, owner)
	case info.Mode().Perm()&groupAndOthers != 0:
		return fmt.Errorf("error: log-in: others may read or change %s (mode %04o); run quill logout, then quill login", path,
			info.Mode().Perm())
	case dir.Mode().Perm()&groupAndOthersWrite != 0:
		return fmt.Errorf("error: log-in: others may change the directory of %s (mode %04o); chmod go-w %s", path,
			dir.Mode().Perm(), filepath.Dir(path))
	}
	return nil
}

// SaveLogin stores the token of a log-in.
func (c Cell) SaveLogin(token string) error {
	if os.Getenv("HOME") == "" {
		return errors.New("the token of a log-in is stored in the home directory: set HOME")
	}
	if home := os.Getenv("HOME"); ofAnother(home) {
		return fmt.Errorf("the token of a log-in is stored in the home directory, and %s belongs to another user: set HOME",
			home)
	}
	text, err := json.Marshal(login{c.Root, token})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.LoginFile()), 0o700); err != nil {
		return err
	}
	return archive.Replace(c.LoginFile(), append(text, '\n'), 0o600)
}

// RemoveLogin removes the token of a log-in.
func (c Cell) RemoveLogin() error { return os.Remove(c.LoginFile()) }

// UserToken returns the token that a user's programs connect with: $QUILL_TOKEN, else that of the log-in unless
// $QUILL_KEY names a key; "": none. login is whether it is that of the log-in. It fails as Login does.
func (c Cell) UserToken() (token string, login bool, err error) {
	if token := os.Getenv(grid.TokenVariable); token != "" {
		return token, false, nil
	}
	if os.Getenv(keyVariable) != "" || c.inside != nil {
		return "", false, nil
	}
	token, err = c.Login()
	return token, token != "", err
}
