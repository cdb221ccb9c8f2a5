package core

import (
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/testkit"
)

// loaders are variables by which a loader, a shell, an interpreter or a program that a procedure uses would run what
// their writer chooses.
var loaders = strings.Fields(`
	LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT LD_DEBUG_OUTPUT LD_PROFILE_OUTPUT LD_ORIGIN_PATH LD_BIND_NOW LD_ LDR_PRELOAD LIBPATH SHLIB_PATH DYLD_INSERT_LIBRARIES
	GCONV_PATH LOCPATH NLSPATH HOSTALIASES RES_OPTIONS LOCALDOMAIN MALLOC_TRACE GLIBC_TUNABLES GETCONF_DIR RESOLV_HOST_CONF TZDIR TMP TMPDIR TEMP
	PATH CDPATH IFS ENV BASH_ENV BASH_FUNC_ls%% BASH_FUNC_cd() BASHOPTS SHELLOPTS PS4 PROMPT_COMMAND INPUTRC ZDOTDIR FPATH KSH_VERSION SHELL HOME
	PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONINSPECT PYTHONUSERBASE PYTHONEXECUTABLE PYTHONBREAKPOINT PYTHONWARNINGS
	PERL5LIB PERLLIB PERL5OPT PERL5DB PERL_UNICODE RUBYOPT RUBYLIB RUBYSHELL GEM_HOME GEM_PATH BUNDLE_GEMFILE
	NODE_OPTIONS NODE_PATH NPM_CONFIG_PREFIX LUA_PATH LUA_CPATH LUA_INIT TCLLIBPATH TCL_LIBRARY R_HOME R_PROFILE R_ENVIRON R_LIBS
	JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH JAVA_HOME GROOVY_HOME PHPRC PHP_INI_SCAN_DIR AWKPATH AWKLIBPATH
	GIT_DIR GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_EXEC_PATH GIT_CONFIG_COUNT GIT_PAGER GIT_EDITOR GIT_ASKPASS
	EDITOR VISUAL PAGER MANPAGER LESSOPEN LESSCLOSE BROWSER TERMINFO TERMCAP TERMINFO_DIRS TERMPATH LESSKEY
	SSH_ASKPASS SSH_AUTH_SOCK KRB5_CONFIG KRB5CCNAME GSS_USE_PROXY OPENSSL_CONF OPENSSL_ENGINES SSL_CERT_FILE CURL_HOME CURL_CA_BUNDLE WGETRC http_proxy HTTPS_PROXY
	MAKEFLAGS MAKEFILES GNUMAKEFLAGS TAR_OPTIONS RSYNC_RSH CVS_RSH PGPASSFILE PGSYSCONFDIR MYSQL_HOME DOCKER_HOST DOCKER_CONFIG KUBECONFIG XDG_CONFIG_HOME XDG_DATA_DIRS
	OCL_ICD_VENDORS CUDA_INJECTION64_PATH CUDA_CACHE_PATH VK_ICD_FILENAMES VK_LAYER_PATH LIBGL_DRIVERS_PATH MODULEPATH MODULESHOME LMOD_RC
	SGE_ROOT SGE_CELL SGE_QMASTER_PORT QUILL_TOKEN QUILL_KEY SGE_ND SGE_O_ SGE_O_EVIL SGE_HGR_evil SGE_BINARY_PATH DRMAA_LIBRARY_PATH MODULE_VERSION`)

// What a step that runs as another user has in its environment: names that the manual lists, of which the job's owner
// chooses none.
func TestEnvironmentOfOtherUsers(t *testing.T) {
	page, err := os.ReadFile("../../tools/manual/man/qsub.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "In the environment of the job:")
	section, _, _ = strings.Cut(section, "\n# ")
	documented := []string{}
	for _, m := range regexp.MustCompile(`\*\*([A-Z][A-Z0-9_]+)\*\*`).FindAllStringSubmatch(section, -1) {
		documented = append(documented, m[1])
	}
	if len(documented) < 30 {
		t.Fatalf("qsub(1) documents %q", documented)
	}
	own := map[string]string{"PATH": safePath, "SHELL": "/bin/sh", "HOME": "/root"} // never the job's
	testkit.EachSeed(t, 200, func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewSource(int64(seed)))
		names := slices.Clone(loaders)
		for range 20 {
			names = append(names, madeUpName(r))
		}
		r.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
		site, conf := testSite,
			ParseConf(
				grid.Values{{Name: "prolog", Text: "root@/site/prolog"}, {Name: "epilog", Text: "sgeadmin@epilog $job_name"}})
		spec := &grid.JobSpec{Command: "job.sh"}
		for i, name := range names {
			if i%3 == 0 {
				site.Environ = append(slices.Clone(site.Environ), name+"=evil")
			}
			spec.Env = append(spec.Env, grid.Value{Name: name, Text: "evil"})
		}
		s := Start{
			Deliver: report.Deliver{Attempt: report.Attempt{Job: 13, Task: 1, N: 1},
				PE:   &grid.PE{Name: "mpi", StartProcArgs: "root@/site/start", StopProcArgs: "root@/site/stop"},
				Maps: []grid.MapGrant{{Resource: "gpu", Host: "node1", IDs: []string{"GPU0"}, UUIDs: []string{"GPU-a"}}}},
			Job:   &grid.Job{JobRequest: &grid.JobRequest{}, ID: 13, Name: "myjob", Owner: "alice", Spec: spec},
			Queue: report.QueueInstance{Name: "all.q", Host: "node1", StarterMethod: "/site/starter"},
		}
		p, err := site.Plan(&conf, &s, testOwner, testLocal(""))
		if err != nil {
			t.Fatal(err)
		}
		steps := 0
		for i := range p.Steps {
			if p.Steps[i].As == nil {
				continue
			}
			steps++
			checkOther(t, &p.Steps[i], documented, own)
		}
		if steps != 4 {
			t.Fatalf("%d steps run as another user", steps)
		}
	})
}

// checkOther checks the environment of one step.
func checkOther(t *testing.T, s *plan.Step, documented []string, own map[string]string) {
	t.Helper()
	seen := map[string]bool{}
	for _, v := range s.Environ {
		name, value, _ := strings.Cut(v, "=")
		_, basic := own[name]
		switch {
		case seen[name]:
			t.Errorf("%s has %s twice", s.Name, name)
		case basic && strings.Contains(value, "evil"):
			t.Errorf("%s has %s", s.Name, v)
		case basic || name == "SGE_HGR_gpu":
		case name == "TMPDIR":
			t.Errorf("%s has the directory of the job's owner", s.Name)
		case !slices.Contains(documented, name):
			t.Errorf("%s has %s, which qsub(1) does not document", s.Name, v)
		case value == "evil" && !strings.HasPrefix(name, "SGE_O_"):
			t.Errorf("%s has %s of the job", s.Name, v)
		}
		seen[name] = true
	}
	for _, v := range s.Env {
		if name, _, _ := strings.Cut(v, "="); !slices.Contains(documented, name) {
			t.Errorf("%s has also %s", s.Name, v)
		}
	}
}

// madeUpName is a name that looks like one that some program reads.
func madeUpName(r *rand.Rand) string {
	parts := []string{"LD", "PYTHON", "PERL", "RUBY", "NODE", "GIT", "BASH", "JAVA", "SGE", "CUDA", "PATH", "ENV", "LIB",
		"OPT", "HOME", "PRELOAD", "x", "_", "%%", "()", "a b", "=", "\n"}
	name := parts[r.Intn(len(parts)-1)]
	for range r.Intn(3) {
		name += "_" + parts[r.Intn(len(parts))]
	}
	return strings.ReplaceAll(name, "=", "") + fmt.Sprint(r.Intn(10))
}
