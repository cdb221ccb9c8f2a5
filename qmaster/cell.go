package qmaster

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"

	"github.com/quill-grid/quill/pkg/cell"
)

// describeProcess writes the process id, in place: also where there is no room for another file. The cell has a common
// directory then.
func (q *QMaster) describeProcess() error {
	c := q.opts.Cell
	return errors.Join(os.MkdirAll(c.Common(), 0o755), os.WriteFile(c.PIDFile(), fmt.Appendln(nil, os.Getpid()), 0o644))
}

// describe writes the files by which everybody finds this qmaster: act_qmaster and bootstrap(5).
func (q *QMaster) describe() error {
	c := q.opts.Cell
	address := q.opts.NATS
	if q.server != nil {
		address = q.address()
	} else if err := os.Remove(c.Socket()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err // an old one: clients would connect there
	}
	var ca error
	if q.opts.TLS.CA != "" {
		ca = copyFile(filepath.Join(c.Common(), authority), q.opts.TLS.CA)
	}
	return errors.Join(
		ca,
		c.WriteBootstrap(Bootstrap(c.Dir(), q.opts, address)),
		cell.WriteFile(c.ActQMaster(), []byte(q.opts.Host+"\n"), 0o644),
	)
}

// Bootstrap returns the parameters of the bootstrap file, bootstrap(5), of a cell in a directory. url is where other
// hosts connect, "" for nowhere.
func Bootstrap(dir string, o Options, url string) [][2]string {
	params := [][2]string{
		{"admin_user", o.Admin},
		{"default_domain", "none"},
		{"ignore_fqdn", "false"},
		{"spooling_method", "log"},
		{"qmaster_spool_dir", dir},
		{"security_mode", "none"},
	}
	if url != "" {
		params = append(params, [2]string{"server_url", url})
	}
	if o.TLS.CA != "" {
		params = append(params, [2]string{"server_ca", authority})
	}
	return params
}

// address is where other hosts reach the embedded server; "": nowhere. One that
// listens on all of the host's addresses is reached by the host's name.
func (q *QMaster) address() string {
	at, err := url.Parse(q.server.URL())
	if err != nil || at.Host == "" {
		return ""
	}
	if ip := net.ParseIP(at.Hostname()); ip != nil && ip.IsUnspecified() {
		at.Host = net.JoinHostPort(q.opts.Host, at.Port())
	}
	return at.String()
}

// authority is the file in common that other hosts trust the server by.
const authority = "server_ca.pem"

func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return cell.WriteFile(to, data, 0o644)
}

// undescribe removes the pid file, from which clients see that a qmaster is running.
func (q *QMaster) undescribe() error { return os.Remove(q.opts.Cell.PIDFile()) }
