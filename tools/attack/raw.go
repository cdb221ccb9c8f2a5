package attack

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
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
	"time"

	"github.com/nats-io/nkeys"

	"github.com/quill-grid/quill/pkg/bus"
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

// alive drops the connections that the server has closed, and returns how many stay.
// What it sends is not read: nothing is taken from the socket.
func (h *held) size() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.conns)
}

// protocol is what no program says.
var protocol = Attack{
	Name: "protocol", Usage: "bytes that are no protocol, over the socket and the network",
	Roles: asUser, Short: true, Run: sendNoise,
}

func sendNoise(ctx context.Context, f *Field) error {
	noise := make([]byte, 4096)
	rand.Read(noise)
	lineHead := func(size uint32, what byte) []byte {
		return append(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(nil, size), 1), what)
	}
	type talk struct {
		hello string // "": none
		then  []byte
	}
	talks := []talk{
		{"", noise}, {"", hello(strings.Repeat("x", 60000))}, {"", []byte{0xff, 0xff}}, {"", hello("")}, {"", hello("ask ")},
		{"", hello("ask host " + f.Hosts[0])}, {"", hello("qmaster qmaster")}, {"", hello("admin root")}, {"", hello("user root\x00\n")},
		{"ask user ", noise}, {"ask user ", lineHead(0, 0)}, {"ask user ", lineHead(9, 255)}, {"ask user ", lineHead(0xffffffff, 3)},
		{"ask user ", append(lineHead(12, 3), "add"...)}, {"ask user ", bytes.Repeat(lineHead(9, 0), 1000)},
		{"user ", noise}, {"user ", []byte("CONNECT {}\r\nPING\r\n")}, {"user ", []byte("CONNECT " + strings.Repeat("{", 4000) + "\r\n")},
		{"user ", []byte("PUB ge.feed 5\r\nhello\r\n")}, {"user ", []byte("CONNECT {\"auth_token\":\"x\"}\r\n")},
	}
	for i := 0; ctx.Err() == nil; i++ {
		t := talks[i%len(talks)]
		network := !f.Socket || t.hello == "" && i/len(talks)%2 == 0
		c, err := f.dial(network)
		if err != nil {
			f.refused()
			f.pause(ctx, 10*time.Millisecond)
			continue
		}
		if t.hello != "" && !network {
			if _, err = greet(c, t.hello); err != nil {
				f.refused()
				c.Close()
				continue
			}
		}
		c.SetDeadline(time.Now().Add(50 * time.Millisecond))
		_, err = c.Write(t.then)
		answer, _ := io.ReadAll(io.LimitReader(c, 1<<16))
		f.search("answer to noise", answer)
		f.count(err)
		c.Close()
		if f.Socket && i%10 == 0 {
			if _, err := bus.Connect(bus.ConnOptions{Socket: f.Cell.Socket(), Identity: bus.Identity{Role: bus.Host, Name: f.Hosts[0]}}); err == nil {
				f.breach("a user came in as a host over the socket")
			}
		}
	}
	return nil
}
