package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var (
	inVM    = flag.Bool("vm", false, "test what is installed, in a machine with systemd; make vmtest says it")
	running = flag.String("machine", "",
		"the `NAME` of a machine that runs and has nothing of Quill but what is installed; it stays")
)

// vm is a machine with a kernel of its own and systemd, in which Quill is installed: what containers cannot show.
type vm struct {
	t    *testing.T
	tool string // vm.sh
	name string
}

// newVM starts a machine with 1 GB of memory. QUILL_VM names vm.sh, QUILL_DESTDIR what `make install` has made.
func newVM(t *testing.T) *vm {
	if !*inVM {
		t.Skip("takes minutes and a machine of its own: make vmtest")
	}
	project := projectDir(t)
	from := func(variable, otherwise string) string {
		if path := os.Getenv(variable); path != "" {
			return path
		}
		return filepath.Join(project, otherwise)
	}
	m := &vm{t: t, tool: from("QUILL_VM", "../shared/vm/vm.sh"), name: *running}
	if _, err := os.Stat(m.tool); err != nil {
		t.Fatalf("no test machines: %v; QUILL_VM names vm.sh", err)
	}
	if m.name != "" {
		return m
	}
	dest := from("QUILL_DESTDIR", "dist/vm")
	if _, err := os.Stat(filepath.Join(dest, "etc/systemd/system/quill-execd.service")); err != nil {
		t.Fatalf("Quill is not installed for a machine: %v; make vmtest does that", err)
	}
	m.name = fmt.Sprintf("quill-test-%d", os.Getpid())
	t.Cleanup(func() { exec.Command(m.tool, "rm", m.name).Run() })
	m.do("build")
	m.do("start", "--systemd", "--hostname", "node0", "--mem", "1024", "--put", dest+":/", "--boot-timeout", "900", m.name)
	return m
}

// do runs vm.sh.
func (m *vm) do(args ...string) {
	m.t.Helper()
	if out, err := exec.Command(m.tool, args...).CombinedOutput(); err != nil {
		m.t.Fatalf("vm.sh %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// run runs a script as root in the machine and fails the test with its output when a command of it fails.
func (m *vm) run(t *testing.T, script string) {
	t.Helper()
	c := exec.Command(m.tool, "exec", m.name, "bash", "-s")
	c.Stdin = strings.NewReader(vmPrelude + script)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// vmPrelude is what all scripts begin with. Emulated machines are slow: what is waited for may take minutes.
const vmPrelude = `
. /etc/profile
set -eE -o pipefail
trap 'echo "FAILED, line $LINENO: $BASH_COMMAND"; qstat -u "*" || :; journalctl --no-pager -o short-monotonic -n 60 $units' ERR
units="-u quill-qmaster -u quill-schedd -u quill-execd -u quill-shepherd" # the machine has others whose name begins with quill
await() { # await COMMAND...: repeats it until it succeeds
	local end=$((SECONDS + 400))
	until "$@" >/dev/null 2>&1; do
		if [ $SECONDS -ge $end ]; then echo "in vain: $*"; return 1; fi
		sleep 0.3
	done
}
absent() { if "$@"; then echo "should fail: $*"; return 1; fi; } # ! does not end a script
alice() { runuser -l alice -c "$*"; }
of() { systemctl show -P "$1" "quill-$2"; }
logged() { journalctl --no-pager -o cat --since "@$1" $units | grep -E "$2"; } # SECONDS PATTERN
restarts() { for d in qmaster schedd execd shepherd; do of NRestarts $d; done | tr '\n' ' '; }
process() { pgrep -u alice -fx "$1"; }
state() { qstat -u '*' | awk -v job="$1" '$1 == job { print $5 }' | grep -qx "$2"; }
accounted() { qacct -j "$1" | awk '$1 == "'"$2"'" { print $2 }' | grep -qx "$3"; } # JOB FIELD VALUE
`

// The tests share one machine, in this order: the first begins with a cell that does not exist, the last leaves a host
// that was out of memory.
func TestVM(t *testing.T) {
	m := newVM(t)
	run := func(name, script string) bool {
		t.Helper()
		return t.Run(name, func(t *testing.T) { m.run(t, script) })
	}
	run("units are valid", `
		systemctl daemon-reload
		systemd-analyze verify --man=no /etc/systemd/system/quill-*.service 2>&1 | tee /tmp/verify
		absent grep quill /tmp/verify`)
	run("schedd and execd wait for a cell that does not exist yet", `
		systemctl start --no-block quill-schedd quill-execd
		for d in schedd execd; do
			await logged 0 "$d: waiting for qmaster to set up the cell"
			test "$(of StatusText $d)" = "waiting for qmaster of cell /var/lib/quill/default"
		done
		systemctl start quill-qmaster
		qstat                                     # without a retry: it serves
		systemctl start quill-schedd quill-execd  # waits until they are registered
		for d in schedd execd; do
			test "$(of ActiveState $d)" = active
			test -z "$(of StatusText $d)"
		done
		qhost | grep "^node0 "
		qconf -rattr queue load_thresholds NONE all.q  # an emulated machine always has a high load
		alice qsub -sync y -b y hostname
		test "$(restarts)" = "0 0 0 0 "`)
	run("a start returns when the cell serves", `
		systemctl stop quill-execd quill-schedd quill-qmaster
		systemctl start quill-execd quill-schedd quill-qmaster
		qstat; qhost | grep "^node0 "
		test "$(restarts)" = "0 0 0 0 "
		absent logged 0 "ERROR|Main process exited|Failed with"`)
	run("jobs outlive restarts in a unit of their own", `
		job=$(alice qsub -terse -b y sleep 1234)
		await process "sleep 1234"
		pid=$(process "sleep 1234")
		group=/system.slice/quill-shepherd.service
		grep -qx "0::$group/jobs/quill-node0/$job.1.1" /proc/$pid/cgroup
		grep -qx "0::$group/supervisor" /proc/$(of MainPID shepherd)/cgroup
		test "$(cat /proc/$pid/oom_score_adj)" = 500
		for d in qmaster schedd execd shepherd; do
			test "$(cat /proc/$(of MainPID $d)/oom_score_adj)" = -900
			test "$(grep -c . /sys/fs/cgroup/system.slice/quill-$d.service/cgroup.procs || :)" -lt 2
		done
		absent grep -zE "^(NOTIFY_SOCKET|INVOCATION_ID|JOURNAL_STREAM|[A-Z]*_OPTIONS)=" /proc/$pid/environ
		since=$(date +%s)
		systemctl restart quill-execd
		absent systemctl restart quill-qmaster quill-schedd quill-execd quill-shepherd
		kill -0 $pid
		before=$(of MainPID execd)
		kill -KILL $before
		await sh -c "test \$(systemctl show -P MainPID quill-execd) != $before && systemctl is-active quill-execd"
		kill -0 $pid
		absent logged $since "[Ll]eft-over|remains running"
		qdel $job
		await qacct -j $job
		shepherd=$(of MainPID shepherd)
		systemctl restart quill-execd
		test "$(of MainPID shepherd)" != $shepherd   # nothing ran: an update takes effect
		alice qsub -sync y -b y true`)
	run("control groups limit jobs", `
		qhost -F cgroup | grep "cgroup=1"
		job=$(alice qsub -terse -l h_rss=64M,s_vmem=50M,h_pids=20 -b y sleep 2345)
		await process "sleep 2345"
		group=/sys/fs/cgroup/system.slice/quill-shepherd.service/jobs/quill-node0/$job.1.1
		grep -qx "0::${group#/sys/fs/cgroup}" /proc/$(process "sleep 2345")/cgroup
		for is in memory.max:67108864 memory.high:52428800 memory.swap.max:0 memory.oom.group:1 pids.max:20 cpu.weight:100; do
			test ! -e $group/${is%:*} || test "$(cat $group/${is%:*})" = ${is#*:}
		done
		qdel $job
		await qacct -j $job
		test ! -e $group`)
	run("nothing is left of a job that hides", `
		cat > /tmp/hide <<-'EOF'
			setsid sh -c 'env -i setsid sleep 2346 & exit' &
			(cd /; env -i setsid sh -c 'sleep 2347 & sleep 2348 & exit' &) &
			sleep 1
		EOF
		alice qsub -sync y -o /dev/null -j y /tmp/hide
		absent pgrep -fx "sleep 234[678]"`)
	run("memory kills are explained", `
		explained() { # JOB COUNT SIZE
			test $(qacct -j $1 | grep -c "^failed       100 :") = $2
			test $(qacct -j $1 | grep -c "^failed_text  out of memory: $3 of $3 on node0") = $2
		}
		job=$(alice qsub -terse -sync y -t 1-80 -o /dev/null -j y -l h_rss=8M -b y -shell n tail /dev/zero | head -1 | cut -d. -f1) || :
		explained $job 80 8.00M
		job=$(alice qsub -terse -sync y -t 1-10 -o /dev/null -j y -l h_rss=5M -pe make 2 -b y -shell n tail /dev/zero | head -1 | cut -d. -f1) || :
		explained $job 10 10.00M
		for i in $(seq 10); do
			alice qrsh -now n -N inter$i -l h_rss=64M tail /dev/zero </dev/null || :
			await qacct -j inter$i
			explained inter$i 1 64.00M
			quill why $(qacct -j inter$i | awk '$1 == "jobnumber" { print $2 }') | grep -q "failed 100: out of memory: 64.00M of 64.00M on node0"
		done
		echo "100 of 100"`)
	run("memory of PE tasks", `
		cat > /tmp/master <<-'EOF'
			qrsh -inherit node0 tail /dev/zero
			sleep 600
		EOF
		job=$(alice qsub -terse -sync y -o /dev/null -j y -l h_rss=40M -pe make 2 /tmp/master | head -1) || :
		qacct -j $job | tee /tmp/records
		grep "^failed_text  out of memory: 80.00M of 80.00M on node0" /tmp/records
		absent pgrep -fx "sleep 600"
		test -z "$(find /sys/fs/cgroup/system.slice/quill-shepherd.service/jobs/quill-node0 -mindepth 1 -type d)"`)
	run("a limit of processes", `
		echo 'for i in $(seq 30); do sleep 100 & done' > /tmp/many
		job=$(alice qsub -terse -sync y -o /dev/null -j y -S /bin/sh -l h_pids=20 /tmp/many) || :
		qacct -j ${job%%[!0-9]*} | grep "^failed_text  process limit: 20 of 20 on node0"
		absent pgrep -fx "sleep 100"`)
	run("limits of jobs that run", `
		cat > /tmp/hold <<-'EOF'
			(head -c 40000000 /dev/zero; sleep 3333) | tail -c 40000000
		EOF
		job=$(alice qsub -terse -j y -o /dev/null -l h_rss=100M,h_pids=50 -S /bin/sh /tmp/hold)
		group=/sys/fs/cgroup/system.slice/quill-shepherd.service/jobs/quill-node0/$job.1.1
		holds() { test "$(awk '$1 == "anon" { print $2 }' $group/memory.stat)" -gt 39000000; }
		limits() { test "$(($(cat $group/memory.max) >> 20)) $(cat $group/pids.max)" = "$*"; }
		await holds
		await state $job r
		limits 100 50
		alice qalter -when now -l h_rss=200M,h_pids=60 $job
		await limits 200 60
		alice qalter -when now -l h_rss=60M $job
		await limits 60 60
		qstat -j $job | grep "^limits .*h_rss=60M"
		alice qalter -when now -l h_rss=20M $job | tee /tmp/refused || grep "uses .* of memory" /tmp/refused # qmaster knows what it uses
		refused() { qstat -j $job | grep "h_rss=20M not applied on host node0: it uses .*M of memory" || grep "uses .* of memory" /tmp/refused; }
		await refused
		limits 60 60
		holds
		qdel $job
		await qacct -j $job`)
	run("a log-in joins a job", `
		sed -i '/quill adopt/d' /etc/pam.d/su-l
		echo "session required pam_exec.so stdout quiet /usr/local/bin/quill adopt --dir /var/lib/quill/default/execd/node0 --exempt bob" >> /etc/pam.d/su-l
		absent env PAM_USER=alice PAM_TYPE=open_session quill adopt 2>&1 | tee /tmp/refused # su does not show it
		grep "access denied for user alice on host node0: no job of the user runs on this host" /tmp/refused
		absent su -l alice -c true
		su -l bob -c true
		job=$(alice qsub -terse -l h_rss=64M -b y sleep 4445)
		await state $job r
		(su -l alice -c "sleep 4446; true" </dev/null || :) &
		await process "sleep 4446"
		group=/system.slice/quill-shepherd.service/jobs/quill-node0/$job.1.1
		grep -qx "0::$group" /proc/$(process "sleep 4446")/cgroup
		qmod -sj $job
		await grep -qx "frozen 1" /sys/fs/cgroup$group/cgroup.events
		qmod -usj $job
		qdel $job
		await qacct -j $job
		absent process "sleep 4446"
		test ! -e /sys/fs/cgroup$group
		job=$(alice qsub -terse -l h_rss=64M -b y sleep 4447)
		await state $job r
		su -l alice -c "tail /dev/zero" || : # counts as the job's
		await accounted $job failed 100
		qacct -j $job | grep "^failed_text  out of memory: 64.00M of 64.00M on node0"
		sed -i '/quill adopt/d' /etc/pam.d/su-l`)
	run("suspension by freezing", `
		job=$(alice qsub -terse -b y sleep 3457)
		await process "sleep 3457"
		await state $job r
		group=/sys/fs/cgroup/system.slice/quill-shepherd.service/jobs/quill-node0/$job.1.1
		frozen() { grep -qx "frozen $1" $group/cgroup.events; }
		qmod -sj $job
		begin=$(date +%s%N)
		until frozen 1; do sleep 0.01; done
		took=$((($(date +%s%N) - begin) / 1000000))
		echo "frozen $took ms after the answer of qmod"
		test $took -le 2000
		await state $job s
		qmod -usj $job
		await frozen 0
		qmod -sj $job
		await frozen 1
		qdel $job
		await qacct -j $job
		test ! -e $group`)
	run("tests of the shepherd on this kernel", `
		cd /tmp
		/usr/lib/quill-test/shepherd.test -test.v -test.timeout 20m -test.run TestKernel | tee /tmp/tests
		absent grep -e "--- SKIP" -e "--- FAIL" /tmp/tests
		grep -x PASS /tmp/tests`)
	run("devices of instances are closed to other jobs", `
		mknod /dev/gpuA c 1 5
		mknod /dev/gpuB c 1 7
		chmod 666 /dev/gpu[AB]
		echo 'gpu gpu RSMAP <= YES YES NONE 0' > /tmp/gpu
		echo 'devices devices STRING == YES NO NONE 0' > /tmp/devices
		qconf -Ace /tmp/gpu
		qconf -Ace /tmp/devices
		qconf -mattr exechost complex_values 'gpu=2(A[devices=/dev/gpuA:rw] B[devices=/dev/gpuB:rw])' node0
		qhost -F device_isolation | grep "device_isolation=1"
		echo 'for d in A B; do head -c 1 /dev/gpu$d >/dev/null && echo opens $d; done; head -c 1 /dev/urandom >/dev/null && echo usual' > /tmp/look
		look() { # WHAT OPTION...: what such a job opens
			local out=$(alice mktemp)
			alice qsub -sync y -S /bin/sh -j y -o $out "${@:2}" /tmp/look
			cat $out
			test "$(grep -c "Operation not permitted" $out || :)" = $((2 - $(echo $1 | wc -w)))
			test "$(sed -n 's/^opens //p' $out | tr '\n' ' ')" = "$1"
			grep -x usual $out
		}
		look ""
		look "A " -l gpu=1
		look "A B " -l gpu=2
		qmod -d gpu:A@node0
		look "B " -l gpu=1
		qmod -e gpu:A@node0
		look "A B " -l gpu=1 -pe make 2
		job=$(alice qsub -terse -l gpu=1 -i /dev/gpuB -j y -o /dev/null -b y cat)
		await state $job Eqw
		qstat -j $job | grep 'can.t open "/dev/gpuB" as stdin_path: Operation not permitted'
		qdel $job`)
	run("bound jobs do not leave their cores", `
		echo 'taskset -pc 0-1 $$; taskset -pc 0-1 $$ >/dev/null; grep Cpus_allowed_list /proc/self/status' > /tmp/leave
		alice qsub -sync y -S /bin/sh -binding linear:1 -j y -o /tmp/leave.out /tmp/leave
		cat /tmp/leave.out
		grep -xP "Cpus_allowed_list:\t[01]" /tmp/leave.out`)
	run("throughput with control groups", `
		conf() {
			qconf -sconf | sed -n '2,$p' | sed "s/^execd_params .*/execd_params $1/" > /tmp/global
			qconf -Mconf /tmp/global
		}
		grouped() { # false|true: waits until jobs are started so
			local group=$(alice qsub -sync y -terse -o /tmp/group -b y -shell n cat /proc/self/cgroup >/dev/null; tail -1 /tmp/group)
			if [[ $group == */shared ]]; then test $1 = false; else test $1 = true; fi
		}
		measure() { # false|true: milliseconds for 200 tasks
			conf USE_CGROUPS=$1
			await grouped $1
			local begin=$(date +%s%N)
			alice qsub -sync y -t 1-200 -o /dev/null -j y -b y -shell n /bin/true >/dev/null
			echo $((($(date +%s%N) - begin) / 1000000))
		}
		measure true >/dev/null
		with=0 without=0
		for i in 1 2 3; do
			without=$((without + $(measure false | tail -1)))
			with=$((with + $(measure true | tail -1)))
		done
		conf NONE
		share=$((100 * without / with))
		echo "600 tasks of /bin/true: $with ms with control groups, $without ms without: $share % of the throughput"
		test $share -ge 85`)
	run("jobs without control groups", `
		conf() {
			qconf -sconf | sed -n '2,$p' | sed "s/^execd_params .*/execd_params $1/" > /tmp/global
			qconf -Mconf /tmp/global
		}
		conf USE_CGROUPS=false
		ungrouped() {
			job=$(alice qsub -terse -b y sleep 2345)
			await process "sleep 2345"
			grep -qx "0::/system.slice/quill-shepherd.service/jobs/shared" /proc/$(process "sleep 2345")/cgroup && ok=0 || ok=1
			qdel $job
			await qacct -j $job
			return $ok
		}
		await ungrouped
		await sh -c 'qhost -F cgroup | grep "cgroup=0"'
		conf NONE
		await sh -c 'qhost -F cgroup | grep "cgroup=1"'`)
	begin := func(what string) {
		run("jobs before "+what, `
			alice qsub -terse -b y -N again -r y sleep 3456 > /var/lib/again
			alice qsub -terse -b y -N once -r n sleep 4567 > /var/lib/once
			await process "sleep 3456"
			await process "sleep 4567"
			await state $(cat /var/lib/again) r
			await state $(cat /var/lib/once) r
			sync`)
	}
	check := func(what, reason string) {
		run("jobs after "+what, fmt.Sprintf(`
			systemctl start quill-qmaster quill-schedd quill-execd
			again=$(cat /var/lib/again) once=$(cat /var/lib/once)
			await accounted $once failed 19
			await process "sleep 3456"
			await state $again Rr
			accounted $again failed 19
			grep -zx RESTARTED=1 /proc/$(process "sleep 3456")/environ
			for job in $again $once; do
				quill why $job | tee /tmp/why
				grep -q %q /tmp/why
			done
			absent state $once r
			qstat -explain E -f >/tmp/queues
			absent grep ' E$' /tmp/queues
			qdel $again
			await sh -c '! qstat -u "*" | grep -q .'`, reason))
	}
	run("units start at boot", "systemctl enable quill-qmaster quill-schedd quill-execd")
	begin("a reboot")
	t.Run("reboot", func(*testing.T) { m.do("reboot", m.name) })
	check("a reboot", "ended by shutdown of the host")
	begin("a power failure")
	t.Run("cut and boot", func(*testing.T) {
		m.do("cut", m.name)
		m.do("boot", m.name)
	})
	check("a power failure", "power failure")
	run("a job that fills the memory", `
		job=$(alice qsub -terse -b y tail /dev/zero)
		await state $job r
		slowest=0 end=$((SECONDS + 1200))
		until accounted $job exit_status 137 2>/dev/null; do
			test $SECONDS -lt $end
			asked=$SECONDS
			qstat -u '*' >/dev/null
			took=$((SECONDS - asked))
			test $took -le $slowest || slowest=$took
			sleep 1
		done
		echo "the slowest qstat took $slowest s"
		test $slowest -le 60
		alice qsub -sync y -b y true
		test "$(restarts)" = "0 0 0 0 "`)
}
