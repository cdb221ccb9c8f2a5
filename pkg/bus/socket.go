package bus

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/userdb"
)

// The Unix socket accepts local clients without any configuration: they are identified
// by the credentials of the socket. After a short exchange
//
//	client: length, "ROLE NAME"     (NAME empty for a user: the kernel knows it)
//	server: 1, length, "IDENTITY TICKET"  or  0 (no) or 2 (not now), length, why not
//
// the connection speaks NATS, and the client presents the ticket. The bytes are
// handed to the server through an in-process pipe, so a cell needs no TCP port.
// With "ask " before ROLE there is no ticket, and the connection is a LocalConn. With
// "token TEXT" in place of "ROLE NAME" the client is the owner of the token (token.go).
type socketListener struct {
	listener
	nats        Engine
	auth        *authenticator
	requests    *requestQueue
	bounds      *memoryBounds
	names       *userdb.Cache[uint32, string]
	distrustAll atomic.Bool // no uid is trusted, for tests
}

const (
	helloWait = 2 * time.Second
	socketMax = 107 // longest path of a Unix socket
)

func listenSocket(
	path string, nats Engine, g *authenticator, d *requestQueue, b *memoryBounds,
) (*socketListener, error) {
	if err := checkSocket(path); err != nil {
		return nil, err
	}
	l, err := fair.ListenUnix(path) // the credentials of the socket identify the user
	if err != nil {
		return nil, err
	}
	s := &socketListener{nats: nats, auth: g, requests: d, bounds: b, names: newUserNames()}
	s.acceptConns(l, func(c net.Conn) { s.handleConn(c.(*net.UnixConn)) })
	return s, nil
}

func checkSocket(path string) error {
	if len(path) > socketMax {
		return fmt.Errorf("path of the socket is longer than %d bytes: %s", socketMax, path)
	}
	return nil
}

// reserveSocket makes the file of a socket that is opened later, if there is none: programs that look for the cell find
// that its server is on this host, and wait for it there.
func reserveSocket(path string) error {
	if _, err := os.Stat(path); path == "" || err == nil {
		return nil
	}
	if err := checkSocket(path); err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return os.NewSyscallError("bind "+path, unix.Bind(fd, &unix.SockaddrUnix{Name: path}))
}

// handleConn serves a connection unless its user, or all together, have too many. A
// connection with a token counts for the owner of the token.
func (s *socketListener) handleConn(c *net.UnixConn) {
	uid, ok := fair.UnixUID(c)
	if !ok {
		return
	}
	c.SetDeadline(time.Now().Add(helloWait))
	who, trusted := fairUserOf(uid), s.trusts(uid)
	who.Daemon = trusted
	if err := admitConn(s.auth.connQuota, who); err != nil {
		refuseAsBusy(c, err)
		return
	}
	defer func() { s.auth.connQuota.Leave(who, 1) }()
	hello, err := readText(c)
	c.SetDeadline(time.Now().Add(helloWait))
	if err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) { // on a busy machine a client may need longer: it tries again
			refuseAsBusy(c, fmt.Errorf("no greeting came within %v", helloWait))
		}
		return
	}
	hello, asks := strings.CutPrefix(hello, askPrefix)
	id, err := s.identifyPeer(uid, hello)
	if err == nil && id.Token != 0 {
		if err = admitConn(s.auth.connQuota, id.FairUser()); err == nil {
			s.auth.connQuota.Leave(who, 1)
			who, trusted = id.FairUser(), false
			defer s.auth.conns.removeConn(s.auth.conns.addConn(c, id, "", who))
		}
	}
	switch {
	case errors.Is(err, ErrBusy):
		refuseAsBusy(c, err)
	case err != nil:
		s.auth.delayRefusal(who.Name, err, s.quit)
		s.refuseConn(c, uid, err)
	case asks:
		s.serveLocal(c, id)
	default:
		if !trusted {
			if err := admitConn(s.auth.natsQuota, who); err != nil {
				refuseAsBusy(c, err)
				return
			}
			defer s.auth.natsQuota.Leave(who, 1)
		}
		s.serveNATS(c, id, trusted)
	}
}

func refuseAsBusy(c *net.UnixConn, why error) {
	c.Write(appendText([]byte{greetBusy}, strings.TrimPrefix(why.Error(), ErrBusy.Error()+": ")))
}

// refuseConn answers a client that may not connect; the client puts ErrRefused before the reason.
func (s *socketListener) refuseConn(c *net.UnixConn, uid uint32, why error) {
	if s.auth.log != nil && errors.Is(why, ErrToken) {
		s.auth.log.Warn("connection refused", "user", fairUserOf(uid).Name, "reason", why)
	}
	c.Write(appendText([]byte{greetRefused}, strings.TrimPrefix(why.Error(), ErrRefused.Error()+": ")))
}

// serveLocal lets c send requests as id.
func (s *socketListener) serveLocal(c *net.UnixConn, id Identity) {
	if !id.Role.MayAsk() {
		c.Write(appendText([]byte{greetRefused}, fmt.Sprintf("%s may not send requests", id)))
		return
	}
	if _, err := c.Write(appendText([]byte{greetWelcome}, id.Word())); err != nil {
		return
	}
	c.SetDeadline(time.Time{})
	serveLocalSession(c, id, s.requests, s.bounds.incomplete.newReservation(id.FairUser(), s.quit), s.quit)
}

// serveNATS lets c speak NATS as id.
func (s *socketListener) serveNATS(c *net.UnixConn, id Identity, trusted bool) {
	inside, err := s.nats.InProcessConn()
	if err != nil {
		c.Write(appendText([]byte{greetBusy}, "server is going down or has too many connections"))
		return
	}
	defer inside.Close()
	ticket := s.auth.issueTicket(id)
	defer s.auth.revokeTicket(ticket)
	if _, err := c.Write(appendText([]byte{greetWelcome}, id.Word()+" "+ticket)); err != nil {
		return
	}
	c.SetDeadline(time.Time{})
	var backlog *writeBuffer
	if !trusted { // a daemon of this host does not wait for one more goroutine
		backlog = s.bounds.unread.newWriteBuffer(id.FairUser())
	}
	bridgeConns(c, c, inside, s.bounds.incomplete.newReservation(id.FairUser(), s.quit), backlog)
}

// trusts reports whether a uid may act as a daemon.
func (s *socketListener) trusts(uid uint32) bool {
	return (uid == 0 || uid == s.auth.adminUID) && !s.distrustAll.Load()
}

// identifyPeer returns the identity of a client: the owner of its token, its user, or a daemon
// if it is root or the cell's admin user; ErrBusy when the user database does not answer.
func (s *socketListener) identifyPeer(uid uint32, hello string) (Identity, error) {
	if text, ok := strings.CutPrefix(hello, tokenHello); ok {
		return s.auth.identifyToken(text)
	}
	name, err := s.names.Get(uid)
	switch {
	case errors.Is(err, userdb.ErrSlow):
		return Identity{}, fmt.Errorf("%w: %w", ErrBusy, err)
	case err != nil:
		return Identity{}, fmt.Errorf("uid %d has no user name on this host", uid)
	}
	word, wanted, _ := strings.Cut(hello, " ")
	role := Role(word)
	trusted := s.trusts(uid)
	switch {
	case role == User:
		return Identity{Role: User, Name: name}, nil
	case role == Admin && trusted:
		return Identity{Role: Admin, Name: name}, nil
	case !trusted:
		return Identity{}, fmt.Errorf("user %q may not act as %s", name, role)
	}
	id := Identity{Role: role, Name: wanted}
	if !id.Known() {
		return Identity{}, fmt.Errorf("no such identity: %s", id)
	}
	return id, nil
}

// fairUserOf returns whose connections over the socket are counted together: a uid's, since
// several may have one name.
func fairUserOf(uid uint32) fair.User { return fair.User{Name: fmt.Sprintf("uid %d", uid)} }

// nameWait is how long a connection waits for the name of a user that was not seen before, less than helloWait.
const nameWait = time.Second

func newUserNames() *userdb.Cache[uint32, string] {
	return &userdb.Cache[uint32, string]{Patience: nameWait, Look: func(uid uint32) (string, error) {
		u, err := userdb.LookupID(int(uid))
		if err != nil {
			return "", err
		}
		return u.Username, nil
	}}
}
