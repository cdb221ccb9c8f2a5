package attacker

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nkeys"
)

// rawWait is how long a raw connection may take to come in.
const rawWait = 3 * time.Second

// dial opens a connection on which nothing has been said: to the socket, or over
// the network.
func (f *Field) dial(network bool) (c net.Conn, err error) {
	if f.Socket && !network {
		c, err = net.DialTimeout("unix", f.Cell.Socket(), rawWait)
	} else {
		c, err = net.DialTimeout("tcp", strings.TrimPrefix(f.URL, "nats://"), rawWait)
	}
	return c, err
}

// hello is what a program says first over the socket.
func hello(text string) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(text))), text...)
}

// greet says hello over the socket and returns what is answered.
func greet(c net.Conn, text string) (string, error) {
	c.SetDeadline(time.Now().Add(rawWait))
	defer c.SetDeadline(time.Time{})
	if _, err := c.Write(hello(text)); err != nil {
		return "", err
	}
	head := make([]byte, 3)
	if _, err := io.ReadFull(c, head); err != nil {
		return "", err
	}
	answer := make([]byte, binary.BigEndian.Uint16(head[1:]))
	_, err := io.ReadFull(c, answer)
	if err == nil && head[0] != 1 {
		err = fmt.Errorf("refused: %s", answer)
	}
	return string(answer), err
}

// speak opens a connection that speaks NATS as the attacker, over the socket or the
// network.
func (f *Field) speak(network bool) (net.Conn, error) {
	c, err := f.dial(network)
	if err != nil {
		return nil, err
	}
	if err := f.enter(c); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (f *Field) enter(c net.Conn) error {
	options := map[string]any{"verbose": false, "pedantic": false, "lang": "x", "version": "1", "protocol": 1}
	if _, local := c.(*net.UnixConn); local {
		pass, err := greet(c, "user ")
		if err != nil {
			return err
		}
		_, options["auth_token"], _ = strings.Cut(pass, " ")
	}
	c.SetDeadline(time.Now().Add(rawWait))
	defer c.SetDeadline(time.Time{})
	in := bufio.NewReader(c)
	info, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	if options["auth_token"] == nil {
		if options["nkey"], options["sig"], err = f.sign(info); err != nil {
			return err
		}
	}
	text, err := json.Marshal(options)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(c, "CONNECT %s\r\nPING\r\n", text); err != nil {
		return err
	}
	for {
		line, err := in.ReadBytes('\n')
		switch {
		case err != nil:
			return err
		case bytes.HasPrefix(line, []byte("PONG")):
			return nil
		case bytes.HasPrefix(line, []byte("-ERR")):
			return errors.New(string(line))
		}
	}
}

// sign answers what the server asks of the owner of a key.
func (f *Field) sign(info []byte) (public, signature string, err error) {
	var asked struct{ Nonce string }
	if err := json.Unmarshal(bytes.TrimPrefix(info, []byte("INFO ")), &asked); err != nil {
		return "", "", err
	}
	text, err := os.ReadFile(f.Key)
	if err != nil {
		return "", "", err
	}
	for word := range strings.FieldsSeq(string(text)) {
		if !strings.HasPrefix(word, "SU") {
			continue
		}
		pair, err := nkeys.FromSeed([]byte(word))
		if err != nil {
			return "", "", err
		}
		raw, err := pair.Sign([]byte(asked.Nonce))
		if err != nil {
			return "", "", err
		}
		public, err = pair.PublicKey()
		return public, base64.RawURLEncoding.EncodeToString(raw), err
	}
	return "", "", fmt.Errorf("no key in %s", f.Key)
}

// filesKept are descriptors that the process needs for itself.
const filesKept = 200

// filesMax is how many connections this process may have.
func filesMax() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 1000
	}
	return int(min(limit.Cur, 60_000)) - filesKept
}

// held are connections that stay open until the attack ends.
type held struct {
	mu    sync.Mutex
	conns []net.Conn
}

func (h *held) add(c net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conns = append(h.conns, c)
}

func (h *held) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.conns {
		c.Close()
	}
	h.conns = nil
}

// drop closes the first n connections.
func (h *held) drop(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n = min(n, len(h.conns))
	for _, c := range h.conns[:n] {
		c.Close()
	}
	h.conns = h.conns[n:]
}

// size is how many connections there are.
func (h *held) size() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.conns)
}
