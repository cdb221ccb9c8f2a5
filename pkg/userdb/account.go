package userdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Programs run on every distribution: they are linked without the C library, and package os/user reads /etc/passwd and
// /etc/group alone. What is not there getent(1) is asked for, and id(1) for the groups of a user, which know the other
// databases of nsswitch.conf(5), too. On a host without these programs there are no others.

// programs are the directories of getent and id: who has started a program that runs as root does not choose them by a
// PATH.
var programs = []string{"/usr/bin", "/bin", "/run/current-system/sw/bin"}

// Account is an entry of passwd(5).
type Account = user.User

// Lookup returns an account by its name, as getpwnam(3) does. NoEntry reports whether the name is unknown; otherwise
// the database has failed.
func Lookup(name string) (*Account, error) {
	u, err := user.Lookup(name)
	if !NoEntry(err) {
		return u, err
	}
	return passwd(name, 0, err)
}

// LookupID returns an account by its number, as getpwuid(3) does; errors as of Lookup.
func LookupID(uid int) (*Account, error) {
	u, err := user.LookupId(strconv.Itoa(uid))
	if !NoEntry(err) {
		return u, err
	}
	return passwd(strconv.Itoa(uid), 2, err)
}

// Current returns the account of who runs this process.
func Current() (*Account, error) { return LookupID(os.Getuid()) }

// GroupName returns the name of a group by its number, as getgrgid(3) does.
func GroupName(gid string) (string, error) {
	g, err := user.LookupGroupId(gid)
	var unknown user.UnknownGroupIdError
	if err == nil {
		return g.Name, nil
	}
	if !errors.As(err, &unknown) {
		return "", err
	}
	fields, err := getent("group", gid, 2, 3, err)
	if err != nil {
		return "", err
	}
	return fields[0], nil
}

// Groups returns the numbers of the groups that a user is in, as getgrouplist(3) does.
func Groups(u *Account) ([]string, error) {
	text, err := run("id", "-G", "--", u.Username)
	if errors.Is(err, fs.ErrNotExist) {
		return u.GroupIds()
	}
	if err != nil {
		return nil, fmt.Errorf("id -G %s: %w", u.Username, err)
	}
	return strings.Fields(string(text)), nil
}

// Become makes this process, which is root's, one of the account, with its groups and $HOME: from then on it may do
// what the account may.
func Become(u *Account) error {
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return err
	}
	numbers, err := Groups(u)
	if err != nil {
		return err
	}
	groups := make([]int, len(numbers))
	for i, n := range numbers {
		if groups[i], err = strconv.Atoi(n); err != nil {
			return err
		}
	}
	for name, value := range map[string]string{"HOME": u.HomeDir, "USER": u.Username, "LOGNAME": u.Username} {
		os.Setenv(name, value)
	}
	if err := errors.Join(syscall.Setgroups(groups), syscall.Setgid(gid), syscall.Setuid(uid)); err != nil {
		return fmt.Errorf("becoming %s: %w", u.Username, err)
	}
	return nil
}

// Shell returns the login shell of a user, which package os/user leaves out; errors as of Lookup.
func Shell(name string) (string, error) {
	text, _ := os.ReadFile("/etc/passwd") // there may be a directory service alone
	for line := range strings.Lines(string(text)) {
		if f := strings.Split(strings.TrimSuffix(line, "\n"), ":"); len(f) == 7 && f[0] == name {
			return f[6], nil
		}
	}
	f, err := getent("passwd", name, 0, 7, user.UnknownUserError(name))
	if err != nil {
		return "", err
	}
	return f[6], nil
}

// passwd returns the account whose field is key, or unknown.
func passwd(key string, field int, unknown error) (*Account, error) {
	f, err := getent("passwd", key, field, 7, unknown)
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(f[4], ",")
	return &Account{Username: f[0], Uid: f[2], Gid: f[3], Name: name, HomeDir: f[5]}, nil
}

// getent returns the fields of the line of a database, at least so many, whose field is key, or unknown: getent takes
// digits for a number where a name is asked for.
func getent(database, key string, field, fields int, unknown error) ([]string, error) {
	const none = 2 // exit status: no such key
	text, err := run("getent", database, "--", key)
	var exit *exec.ExitError
	if errors.Is(err, fs.ErrNotExist) || errors.As(err, &exit) && exit.ExitCode() == none {
		return nil, unknown
	}
	if err != nil {
		return nil, fmt.Errorf("getent %s %s: %w", database, key, err)
	}
	f := strings.Split(strings.TrimSuffix(string(text), "\n"), ":")
	if len(f) < fields || f[field] != key {
		return nil, unknown
	}
	return f, nil
}

// run returns what a program prints, or fs.ErrNotExist.
func run(name string, args ...string) (text []byte, err error) {
	for _, dir := range programs {
		if text, err = exec.Command(filepath.Join(dir, name), args...).Output(); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return text, err
}
