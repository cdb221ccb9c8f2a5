package jsv

import (
	"errors"
	"fmt"
	"strings"
)

// URL is a jsv_url of sge_types(1), [script:][user@]path. User is who runs it,
// empty: who starts it.
type URL struct{ User, Path string }

// ClientURL reads the URL of a -jsv, which names no user.
func ClientURL(text string) (URL, error) {
	u, err := ServerURL(text)
	if err == nil && u.User != "" {
		err = errors.New("specifying user is not allowed in client JSV URLs")
	}
	return u, err
}

// ServerURL reads a jsv_url of sge_conf(5).
func ServerURL(text string) (u URL, err error) {
	head, path, absolute := strings.Cut(text, "/")
	if typ, user, typed := strings.Cut(head, ":"); typed {
		if typ != "script" {
			return u, fmt.Errorf("type %q in JSV URL is invalid", typ)
		}
		head = user
	}
	user, rest, named := strings.Cut(head, "@")
	if !named {
		user, rest = "", head
	}
	if u = (URL{user, "/" + path}); !absolute || rest != "" || named && user == "" {
		return u, Unusable(text)
	}
	return u, nil
}

// Unusable is the error of what cannot be a verifier.
func Unusable(path string) error {
	return fmt.Errorf("JSV %q is either not a file or not executable", path)
}
