package shepherd

import (
	"bytes"
	"encoding/binary"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
)

// The file environment in the spool directory is read again before each step, as in Grid Engine: what a prolog of root
// or of the administrator has added there is in the environment of the steps after it. The job's owner can read the
// file and not write it.

// environmentMax bounds what is read of it, in bytes.
const environmentMax = 16 << 20

var (
	inLine   = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	fromLine = strings.NewReplacer(`\\`, `\`, `\n`, "\n")
)

// writeEnvironment writes the environment of the attempt: NAME=VALUE lines. On a file system without access control
// lists, acl(5), the file belongs to the owner of the job, and is not read again.
func (k *shepherd) writeEnvironment(p *plan.Plan) error {
	var text strings.Builder
	for _, v := range p.Env {
		text.WriteString(inLine.Replace(v))
		text.WriteByte('\n')
	}
	f := plan.File{Path: p.Spool + "/" + environmentFile, Data: []byte(text.String()), Mode: 0o600} // may hold secrets
	return k.makeFile(f, func(fd int) error {
		if k.uid != 0 || p.Owner.UID == 0 {
			return nil
		}
		if err := unix.Fsetxattr(fd, "system.posix_acl_access", readableBy(p.Owner.UID), 0); err != nil {
			return syscall.Fchown(fd, int(p.Owner.UID), int(p.Owner.GID))
		}
		return syscall.Fchown(fd, int(p.Admin), -1)
	})
}

// readableBy is the access control list of a file of mode 0600 that one more user may read, as in
// linux/posix_acl_xattr.h.
func readableBy(uid uint32) []byte {
	const version, none = 2, ^uint32(0)
	b := binary.LittleEndian.AppendUint32(nil, version)
	for _, e := range []struct {
		tag, perm uint16
		id        uint32
	}{{0x01, 6, none}, {0x02, 4, uid}, {0x04, 0, none}, {0x10, 4, none}, {0x20, 0, none}} {
		// the user, another user, group, mask, others
		b = binary.LittleEndian.AppendUint16(b, e.tag)
		b = binary.LittleEndian.AppendUint16(b, e.perm)
		b = binary.LittleEndian.AppendUint32(b, e.id)
	}
	return b
}

// readEnvironment reads the environment again, unless others than root and the administrator can have written it.
// Variables that are not in the file any more are gone. Of steps of other users the environment has what was appended
// below the lines of the job, under names that the job does not have: all else may be what the job's owner has said,
// brought there by a prolog that edits the file.
func (a *attempt) readEnvironment() {
	f, err := os.OpenFile(a.plan.Spool+"/"+environmentFile, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	var s syscall.Stat_t
	if syscall.Fstat(int(f.Fd()), &s) != nil || s.Mode&syscall.S_IFMT != syscall.S_IFREG || s.Size > environmentMax ||
		s.Mode&0o022 != 0 {
		return
	}
	if s.Uid != a.k.uid && (a.plan.Admin == 0 || s.Uid != a.plan.Admin) {
		return
	}
	text := make([]byte, s.Size)
	n, _ := f.ReadAt(text, 0)
	written, names := map[string]int{}, map[string]bool{} // places in the environment by line; names in it
	for i, v := range a.plan.Env {
		written[inLine.Replace(v)] = i
		name, _, _ := strings.Cut(v, "=")
		names[name] = true
	}
	var env, added []string
	last, appended, altered := -1, false, false // the last line of the job; whether others follow it; or stand before one
	at := map[string]int{}                      // of names in env: the last line holds
	for line := range bytes.Lines(text[:n]) {
		line := strings.TrimSuffix(string(line), "\n")
		v := fromLine.Replace(line)
		place, same := written[line]
		switch {
		case same && (appended || place < last):
			altered = true
		case same:
			v, last = a.plan.Env[place], place
		default:
			appended = true
		}
		name, _, ok := strings.Cut(v, "=")
		if !ok || !same && (!grid.VariableName(name) || name+"=" == spoolVariable || strings.Contains(v, "\x00")) {
			continue
		}
		if !same && !names[name] {
			added = setVariable(added, v)
		}
		if i, there := at[name]; there {
			env[i] = v
			continue
		}
		at[name] = len(env)
		env = append(env, v)
	}
	if altered {
		added = nil
	}
	a.env, a.added = setVariable(env, spoolVariable+a.plan.Spool), added
}
