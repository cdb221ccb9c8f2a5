package entry

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/quill-grid/quill/pkg/archive"
)

// Sessions outlive a restart of quill web in a file. It has the digests of their cookies, and their tokens sealed with
// keys that follow from the cookies: it is worth nothing to a thief. A session that has ended is removed from it at
// once.

// Bounds of the file.
const (
	storedMost = 10_000 // sessions: the newest
	storedSize = 16 << 20
)

// storedSession is a session in the file.
type storedSession struct {
	Cookie []byte    `json:"cookie"` // its digest
	User   string    `json:"user"`
	Token  []byte    `json:"token"` // sealed
	Revoke bool      `json:"revoke,omitempty"`
	Used   time.Time `json:"used"`
}

// derive returns what follows from a cookie for a purpose, and from which the cookie does not follow.
func derive(cookie, purpose string) []byte {
	h := hmac.New(sha256.New, []byte(cookie))
	_, _ = io.WriteString(h, "quill web session: "+purpose)
	return h.Sum(nil)
}

// csrfOf returns what a request of the session of a cookie that changes something has to present.
func csrfOf(cookie string) string {
	return base64.RawURLEncoding.EncodeToString(derive(cookie, "csrf"))
}

// newSealer returns what seals the token of the session of a cookie.
func newSealer(cookie string) cipher.AEAD {
	block, err := aes.NewCipher(derive(cookie, "token"))
	if err != nil {
		panic(err) // the key has the right size
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return seal
}

// unseal sets the token of a session that was read from the file. It reports whether the session has one then.
func (one *session) unseal(cookie string) bool {
	if one.token == "" {
		token, err := newSealer(cookie).Open(nil, nil, one.sealed, nil)
		if err != nil {
			return false
		}
		one.token, one.csrf = string(token), csrfOf(cookie)
	}
	return true
}

// sessionFile is where sessions are stored; path "": nowhere.
type sessionFile struct {
	path string
	mu   sync.Mutex // while it is written: the last one has the last state
	text []byte     // as it was written last
}

// read adds the sessions of the file that have not ended since. A file that does not exist has none.
func (s *sessions) read(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var stored []storedSession
	if err == nil && info.Size() > storedSize {
		err = fmt.Errorf("it has %d bytes, more than %d", info.Size(), storedSize)
	}
	if err == nil {
		var text []byte
		if text, err = os.ReadFile(path); err == nil {
			err = json.Unmarshal(text, &stored)
		}
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range stored {
		if len(one.Cookie) == sha256.Size && s.now().Sub(one.Used) <= sessionIdle {
			s.opened[digest(one.Cookie)] = &session{user: one.User, sealed: one.Token, revoke: one.Revoke, used: one.Used}
		}
	}
	return nil
}

// write writes the file as the sessions are.
func (s *sessions) write() error {
	if s.file.path == "" {
		return nil
	}
	s.file.mu.Lock()
	defer s.file.mu.Unlock()
	s.mu.Lock()
	stored := []storedSession{}
	for d, one := range s.opened {
		stored = append(stored, storedSession{d[:], one.user, one.sealed, one.revoke, one.used})
	}
	s.mu.Unlock()
	slices.SortFunc(stored, func(a, b storedSession) int { return b.Used.Compare(a.Used) })
	text, err := json.Marshal(stored[:min(len(stored), storedMost)])
	if err != nil || bytes.Equal(text, s.file.text) {
		return err
	}
	if err = archive.Replace(s.file.path, text, 0o600); err == nil {
		s.file.text = text
	}
	return err
}

// OpenSessions reads the sessions of a file, and stores them there from now on. Without it they end with the process.
// It fails when the file cannot be used; what was in it is lost then.
func (a *Authenticator) OpenSessions(path string) error {
	err := a.sessions.read(path)
	a.sessions.file.path = path
	return errors.Join(err, a.sessions.write())
}

// storeSessions writes the file; a failure is logged.
func (a *Authenticator) storeSessions() {
	if err := a.sessions.write(); err != nil {
		a.options.Logger.Error("cannot store sessions: they end with this process", "error", err)
	}
}
