package grid

import (
	"fmt"
	"strings"
)

// Device is a device file of a host, and how a task may use it.
type Device struct {
	Path     string
	Access   Access
	Resource string // the RSMAP attribute whose instance gives it to the task; "": none does
}

// Access is a set of ways to use a device file; 0 is none.
type Access uint8

// The ways, as in the modes r, w and m.
const (
	DeviceRead Access = 1 << iota
	DeviceWrite
	DeviceMake // mknod(2)
)

const accessLetters = "rwm"

// String returns the mode, for instance rw.
func (a Access) String() string {
	var b strings.Builder
	for i, letter := range accessLetters {
		if a&(1<<i) != 0 {
			b.WriteRune(letter)
		}
	}
	return b.String()
}

// ParseDevices reads the characteristic "devices" of an instance: paths separated by semicolons, each with
// a mode of the letters r, w and m after a colon, or with none, which is r. A path may contain colons: what follows the
// last one is a mode if it consists of letters.
func ParseDevices(text string) (out []Device, err error) {
	for word := range strings.SplitSeq(text, ";") {
		d := Device{Path: word, Access: DeviceRead}
		if i := strings.LastIndexByte(word, ':'); i >= 0 &&
			strings.Trim(word[i+1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
			d.Path, d.Access = word[:i], 0
			for _, letter := range word[i+1:] {
				at := strings.IndexRune(accessLetters, letter)
				if at < 0 {
					return nil, fmt.Errorf("mode %q of %q is not of the letters r, w and m", word[i+1:], d.Path)
				}
				d.Access |= 1 << at
			}
			if d.Access == 0 {
				return nil, fmt.Errorf("%q has no mode after the colon", d.Path)
			}
		}
		if !strings.HasPrefix(d.Path, "/") || strings.HasSuffix(d.Path, "/") {
			return nil, fmt.Errorf("%q is no path of a device file", d.Path)
		}
		out = append(out, d)
	}
	return out, nil
}

// JoinDevices makes one entry of those with the same path: with the access of all of them.
func JoinDevices(list []Device) (out []Device) {
	at := make(map[string]int, len(list))
	for _, d := range list {
		i, known := at[d.Path]
		if !known {
			at[d.Path] = len(out)
			out = append(out, d)
			continue
		}
		out[i].Access |= d.Access
		if out[i].Resource == "" {
			out[i].Resource = d.Resource
		}
	}
	return out
}
