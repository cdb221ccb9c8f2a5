package tidy

import "strings"

// level is a layer of the program. A package imports packages of lower levels, and of its own level those that are
// listed before it.
type level int

const (
	domain         level = iota // what there is: objects, events, orders, requests, reports
	rules                       // what follows from it: state, arithmetic, placement, rows, texts
	deciders                    // Step functions and scheduling algorithms
	formats                     // bytes and lines
	infrastructure              // the bus, files, clocks, processes that verify jobs
	daemons                     // shells: bytes between the bus and the deciders
	programs                    // commands and what only they share
	tests                       // imported by tests only
)

var levelNames = [...]string{"domain", "rules", "deciders", "formats", "infrastructure", "daemons", "programs", "tests"}

// row is a line of the import plan. A path that ends in * is the row of every package that begins so and has no row of
// its own.
type row struct {
	path    string
	level   level
	pure    bool   // packages of the first three levels are pure without it
	imports string // rows of this module, as the plan names them
	modules string // other modules, by import path prefix
}

func (r *row) isPure() bool { return r.pure || r.level <= deciders }

// plan is the import plan: every package of the module, a package after those that it imports. A package imports only
// what its row names, and a row names only what is imported.
//
// Text forms without I/O (conf, jsv) are rules, not formats: qmaster/core and events/diff decide on them.
var plan = []row{
	{path: "pkg/reason", level: domain},
	{path: "pkg/grid", level: domain, imports: "pkg/reason"},
	{path: "events", level: domain, imports: "pkg/reason pkg/grid"},
	{path: "orders", level: domain, imports: "pkg/grid"},
	{path: "pkg/gdi", level: domain, imports: "pkg/grid"},
	{path: "pkg/report", level: domain, imports: "pkg/grid"},
	// for the names of signals
	{path: "execd/plan", level: domain,
		imports: "pkg/grid pkg/report",
		modules: "golang.org/x/sys"},

	{path: "pkg/pattern", level: rules},
	{path: "pkg/ordered", level: rules, modules: "github.com/tidwall/btree"},
	{path: "pkg/chart", level: rules, imports: "pkg/grid"},
	{path: "pkg/conf", level: rules, imports: "pkg/grid"},
	{path: "pkg/jsv", level: rules, imports: "pkg/grid"},
	{path: "events/filter", level: rules, imports: "pkg/grid events pkg/pattern"},
	{path: "events/diff", level: rules, imports: "pkg/grid events pkg/conf"},
	{path: "pkg/state", level: rules, imports: "pkg/grid pkg/ordered events"},
	{path: "pkg/calendar", level: rules, imports: "pkg/grid"},
	{path: "pkg/complex", level: rules, imports: "pkg/grid pkg/pattern"},
	{path: "pkg/topology", level: rules},
	{path: "pkg/shares", level: rules, imports: "pkg/grid pkg/state"},
	{path: "pkg/sched/site", level: rules, imports: "pkg/reason pkg/grid pkg/pattern pkg/state pkg/complex pkg/topology"},
	{path: "pkg/sched/diagram", level: rules, imports: "pkg/grid pkg/complex"},
	{path: "pkg/sched/cow", level: rules},
	{path: "pkg/sched/ledger", level: rules,
		imports: "pkg/grid pkg/ordered pkg/complex pkg/topology pkg/sched/site pkg/sched/diagram pkg/sched/cow"},
	{path: "pkg/sched", level: rules,
		imports: `pkg/reason pkg/grid events pkg/pattern pkg/state pkg/calendar pkg/complex pkg/ordered pkg/topology
			pkg/sched/site pkg/sched/diagram pkg/sched/cow pkg/sched/ledger`},
	{path: "pkg/view", level: rules,
		imports: "pkg/reason pkg/grid events pkg/gdi pkg/report pkg/pattern pkg/state pkg/shares pkg/sched/site pkg/sched"},
	{path: "pkg/explain", level: rules, imports: "events pkg/reason pkg/grid pkg/gdi pkg/state pkg/sched/site pkg/sched pkg/view"},
	{path: "qmaster/core/cell", level: deciders,
		imports: `pkg/grid events pkg/gdi pkg/report pkg/pattern pkg/state pkg/complex pkg/shares pkg/sched/site
			pkg/sched`},
	{path: "qmaster/core/authorize", level: deciders, imports: "pkg/grid pkg/gdi pkg/state qmaster/core/cell"},
	{path: "qmaster/core/validate", level: deciders,
		imports: `pkg/reason pkg/grid events pkg/gdi pkg/report pkg/pattern pkg/jsv pkg/calendar pkg/complex pkg/shares
			pkg/sched/site pkg/sched qmaster/core/cell`},
	{path: "qmaster/core", level: deciders,
		imports: `pkg/grid events orders pkg/gdi pkg/report events/diff pkg/state pkg/calendar pkg/shares
			pkg/sched/site pkg/sched pkg/explain qmaster/core/cell qmaster/core/authorize qmaster/core/validate`},
	{path: "execd/core", level: deciders, imports: "pkg/grid pkg/report execd/plan pkg/pattern pkg/topology"},
	{path: "schedd/algorithm", level: deciders, imports: "pkg/grid events orders"},
	{path: "schedd/model", level: deciders,
		imports: "pkg/reason pkg/grid pkg/ordered events orders pkg/state pkg/sched schedd/algorithm"},
	{path: "schedd/algorithm/*", level: deciders,
		imports: "pkg/reason pkg/grid pkg/ordered events orders pkg/state pkg/shares pkg/sched schedd/algorithm schedd/model"},
	{path: "schedd/algorithm/shipped", level: deciders, imports: "schedd/algorithm schedd/algorithm/*"},

	{path: "pkg/wire", level: formats, pure: true, modules: "github.com/vmihailenco/msgpack/v5"},
	{path: "pkg/codec", level: formats,
		imports: "pkg/reason pkg/grid events orders pkg/gdi pkg/report pkg/wire",
		modules: "github.com/vmihailenco/msgpack/v5"},
	{path: "pkg/frame", level: formats, pure: true},
	{path: "pkg/accounting", level: formats, pure: true, imports: "pkg/grid"},
	{path: "pkg/reporting", level: formats, pure: true,
		imports: "pkg/grid events pkg/state pkg/sched pkg/view pkg/accounting"},
	{path: "pkg/document", level: formats, pure: true,
		imports: "pkg/grid events pkg/gdi pkg/report pkg/conf events/diff pkg/view pkg/accounting"},
	{path: "pkg/redact", level: formats, pure: true, imports: "pkg/grid events orders pkg/pattern"},
	{path: "pkg/switches", level: formats, imports: "pkg/grid pkg/gdi"},

	{path: "pkg/product", level: infrastructure},
	{path: "pkg/clock", level: infrastructure},
	{path: "pkg/gpu", level: infrastructure},
	{path: "pkg/userdb", level: infrastructure},
	{path: "pkg/fair", level: infrastructure, modules: "golang.org/x/sys"},
	{path: "pkg/metrics", level: infrastructure,
		imports: "pkg/fair",
		modules: "github.com/hashicorp/go-hclog github.com/prometheus/"},
	{path: "pkg/metrics/cellmetrics", level: infrastructure,
		imports: "pkg/reason pkg/grid events pkg/report pkg/ordered pkg/state pkg/view",
		modules: "github.com/prometheus/client_golang"},
	{path: "pkg/archive", level: infrastructure, imports: "pkg/frame", modules: "github.com/klauspost/compress"},
	{path: "pkg/bus", level: infrastructure,
		imports: "pkg/gdi pkg/fair pkg/frame pkg/userdb pkg/archive",
		modules: `github.com/nats-io/nats.go github.com/nats-io/nkeys github.com/nats-io/nuid golang.org/x/sys
			golang.org/x/time`},
	// for programs that run a server: clients do not link it
	{path: "pkg/bus/embedded", level: infrastructure,
		imports: "pkg/bus",
		modules: "github.com/nats-io/nats-server/v2 github.com/minio/highwayhash"},
	{path: "pkg/cell", level: infrastructure, imports: "pkg/grid pkg/userdb pkg/archive pkg/bus"},
	{path: "pkg/client", level: infrastructure,
		imports: "pkg/grid events orders pkg/gdi pkg/state pkg/codec pkg/frame pkg/bus pkg/cell"},
	{path: "pkg/history", level: infrastructure,
		imports: `pkg/grid events orders pkg/gdi pkg/state pkg/codec pkg/frame pkg/archive pkg/bus pkg/cell
			pkg/client`},
	{path: "pkg/openid", level: infrastructure,
		imports: "pkg/grid pkg/gdi",
		modules: "github.com/coreos/go-oidc/v3 golang.org/x/oauth2 golang.org/x/time"},
	{path: "pkg/mailer", level: infrastructure,
		imports: "pkg/grid pkg/report pkg/fair",
		modules: "github.com/hashicorp/go-hclog"},
	{path: "pkg/jsv/script", level: infrastructure, imports: "pkg/jsv pkg/userdb"},
	{path: "pkg/submit", level: infrastructure,
		imports: "pkg/grid pkg/gdi pkg/jsv pkg/switches pkg/userdb pkg/jsv/script",
		modules: "github.com/kballard/go-shellquote"},
	{path: "execd/procfs", level: infrastructure, modules: "golang.org/x/sys"},

	{path: "qmaster", level: daemons,
		imports: `pkg/grid events orders pkg/gdi pkg/report pkg/fair pkg/accounting pkg/jsv pkg/state pkg/sched
			qmaster/core/authorize qmaster/core pkg/codec pkg/frame pkg/reporting pkg/clock pkg/userdb pkg/metrics
			pkg/metrics/cellmetrics pkg/archive pkg/bus pkg/bus/embedded pkg/cell pkg/history pkg/openid
			pkg/mailer pkg/jsv/script pkg/submit`,
		modules: "golang.org/x/sync github.com/hashicorp/go-hclog github.com/prometheus/client_golang"},
	{path: "schedd", level: daemons,
		imports: "pkg/grid events orders schedd/algorithm schedd/algorithm/shipped pkg/clock pkg/metrics",
		modules: "github.com/hashicorp/go-hclog github.com/prometheus/client_golang"},
	{path: "execd/shepherd", level: daemons,
		imports: "pkg/grid pkg/report execd/plan pkg/wire pkg/codec pkg/fair execd/procfs",
		modules: "github.com/cilium/ebpf golang.org/x/sys"},
	{path: "execd", level: daemons,
		imports: `pkg/grid pkg/report pkg/topology execd/plan execd/core pkg/codec pkg/clock pkg/gpu pkg/userdb
			pkg/metrics pkg/bus pkg/mailer execd/shepherd`,
		modules: "github.com/hashicorp/go-hclog github.com/prometheus/client_golang golang.org/x/sys"},
	{path: "pkg/madeup", level: programs},
	{path: "pkg/opt", level: programs,
		imports: `pkg/grid pkg/gdi pkg/state pkg/document pkg/switches pkg/product pkg/userdb pkg/cell pkg/client
			pkg/submit`,
		modules: "github.com/urfave/cli/v2 golang.org/x/sys"},
	{path: "tools/outcome", level: programs, imports: "pkg/chart pkg/document"},
	{path: "tools/keys", level: programs, imports: "pkg/bus pkg/cell"},
	{path: "schedd/couple", level: programs, pure: true,
		imports: "pkg/grid events orders pkg/state qmaster/core schedd/algorithm"},
	{path: "tools/outlook", level: programs,
		imports: `pkg/explain pkg/reason pkg/grid events orders pkg/state pkg/sched pkg/view schedd/algorithm schedd/algorithm/shipped
			schedd/couple`},
	{path: "tools/jobstory", level: programs,
		imports: `pkg/explain pkg/grid events orders pkg/gdi pkg/report events/diff pkg/state pkg/sched pkg/view pkg/history
			pkg/opt tools/outlook`},
	{path: "tools/whatif", level: programs,
		imports: `pkg/grid events pkg/gdi pkg/report pkg/state qmaster/core schedd/algorithm/shipped tools/outcome
			schedd/couple`},
	{path: "tools/web/mirror", level: programs,
		imports: `pkg/reason pkg/grid events pkg/gdi pkg/codec events/filter pkg/state pkg/sched pkg/view pkg/document
			pkg/metrics/cellmetrics pkg/client pkg/history tools/jobstory`,
		modules: "github.com/klauspost/compress"},
	{path: "tools/console", level: programs,
		imports: `pkg/opt pkg/explain pkg/grid events pkg/gdi pkg/fair pkg/chart pkg/conf events/filter events/diff pkg/state
			pkg/sched pkg/view pkg/product tools/outcome tools/outlook tools/jobstory tools/web/mirror`},
	{path: "tools/manual", level: programs, modules: "github.com/cpuguy83/go-md2man/v2"},
	{path: "tools/web/problem", level: programs,
		imports: "pkg/gdi pkg/fair pkg/bus pkg/client",
		modules: "github.com/danielgtaylor/huma/v2"},
	{path: "tools/web/entry", level: programs,
		imports: `pkg/archive pkg/grid pkg/gdi pkg/fair pkg/state pkg/bus pkg/cell pkg/client pkg/openid
			tools/web/mirror tools/web/problem`,
		modules: "github.com/danielgtaylor/huma/v2 github.com/hashicorp/go-hclog"},
	{path: "tools/web/past", level: programs,
		imports: `pkg/grid events orders pkg/gdi pkg/fair pkg/state pkg/sched pkg/view pkg/cell pkg/history pkg/opt
			tools/web/mirror tools/web/problem tools/web/entry`},
	{path: "tools/web", level: programs,
		imports: `pkg/explain pkg/grid events orders pkg/gdi pkg/fair pkg/codec pkg/pattern pkg/accounting pkg/conf events/filter
			pkg/state pkg/sched pkg/view qmaster/core pkg/document pkg/product pkg/metrics
			pkg/metrics/cellmetrics pkg/cell pkg/client pkg/switches pkg/submit
			schedd/algorithm schedd/algorithm/shipped pkg/opt tools/outcome tools/whatif tools/outlook
			tools/jobstory tools/web/mirror tools/console tools/manual tools/web/problem
			tools/web/entry tools/web/past`,
		modules: `golang.org/x/sync golang.org/x/sys github.com/danielgtaylor/huma/v2 github.com/hashicorp/go-hclog
			github.com/prometheus/client_golang`},
	{path: "tools/daemons", level: programs,
		imports: `pkg/grid events orders pkg/gdi pkg/report pkg/userdb pkg/bus pkg/cell pkg/client qmaster schedd
			execd/shepherd execd pkg/opt schedd/couple tools/jobstory tools/web/mirror tools/web/entry
			tools/web/past tools/web schedd/algorithm/shipped`,
		modules: "github.com/hashicorp/go-hclog"},
	{path: "tools/simulator/workload", level: programs,
		imports: `pkg/grid events orders pkg/gdi pkg/report pkg/state qmaster/core schedd/algorithm
			schedd/algorithm/shipped tools/outcome schedd/couple`},
	{path: "tools/ge/qrsh/session", level: programs, imports: "pkg/fair", modules: "golang.org/x/sys"},
	{path: "tools/ge/qevent", level: programs,
		imports: `pkg/grid events pkg/gdi events/filter events/diff pkg/state pkg/codec pkg/document pkg/switches
			pkg/client pkg/history pkg/opt`,
		modules: "github.com/urfave/cli/v2"},
	{path: "tools/ge/jobs", level: programs, imports: "pkg/grid pkg/gdi pkg/switches pkg/submit pkg/opt"},
	{path: "tools/ge/qrsh", level: programs,
		imports: `pkg/grid pkg/gdi pkg/report execd/plan pkg/product pkg/userdb pkg/cell pkg/client pkg/submit
			pkg/opt tools/ge/qrsh/session`,
		modules: "github.com/urfave/cli/v2 golang.org/x/term"},
	{path: "tools/ge/qacct", level: programs,
		imports: "pkg/grid pkg/gdi pkg/report pkg/view pkg/accounting pkg/document pkg/switches pkg/cell pkg/opt",
		modules: "github.com/urfave/cli/v2"},
	{path: "tools/ge/qconf", level: programs,
		imports: `pkg/grid pkg/gdi pkg/pattern pkg/conf pkg/state pkg/view pkg/document pkg/switches pkg/client
			pkg/opt`,
		modules: "github.com/urfave/cli/v2"},
	{path: "tools/ge/reservation", level: programs,
		imports: "pkg/grid pkg/gdi pkg/view pkg/document pkg/switches pkg/userdb pkg/submit pkg/opt"},
	{path: "tools/ge/qping", level: programs,
		imports: "pkg/gdi pkg/switches pkg/client pkg/opt",
		modules: "github.com/urfave/cli/v2"},
	{path: "tools/ge/resources", level: programs,
		imports: "pkg/grid pkg/gdi pkg/state pkg/view pkg/document pkg/reporting pkg/switches pkg/client pkg/opt"},
	{path: "tools/ge/qstat", level: programs,
		imports: "pkg/grid pkg/gdi pkg/pattern pkg/view pkg/document pkg/switches pkg/client pkg/opt",
		modules: "github.com/urfave/cli/v2"},
	{path: "tools/ge/qsub", level: programs,
		imports: "pkg/grid pkg/gdi pkg/report pkg/accounting pkg/switches pkg/cell pkg/client pkg/submit pkg/opt",
		modules: "github.com/urfave/cli/v2 golang.org/x/sys/unix"},
	{path: "tools/drmaa/session", level: programs,
		imports: "pkg/grid events pkg/gdi pkg/report pkg/state pkg/cell pkg/client pkg/history pkg/submit",
		modules: "golang.org/x/sys"},
	{path: "tools/drmaa", level: programs, imports: "pkg/product pkg/cell pkg/submit tools/drmaa/session"},
	{path: "tools/demo", level: programs,
		imports: `pkg/grid events pkg/gdi pkg/accounting pkg/cell pkg/client schedd/algorithm qmaster
			schedd/algorithm/shipped pkg/opt tools/daemons tools/web`,
		modules: "github.com/hashicorp/go-hclog"},
	{path: "tools/decide", level: programs, imports: "pkg/grid events orders pkg/state schedd/algorithm pkg/codec"},
	{path: "tools/token", level: programs,
		imports: "pkg/grid pkg/gdi pkg/document pkg/bus pkg/client pkg/opt",
		modules: "github.com/urfave/cli/v2"},
	{path: "tools/gpu", level: programs,
		imports: "pkg/grid pkg/gdi pkg/state pkg/complex pkg/gpu pkg/client pkg/document pkg/opt",
		modules: "github.com/urfave/cli/v2"},
	{path: "tools/proposal", level: programs,
		imports: "pkg/grid pkg/gdi pkg/codec pkg/client pkg/document pkg/opt",
		modules: "github.com/urfave/cli/v2 golang.org/x/term"},
	{path: "tools/login", level: programs,
		imports: "pkg/grid pkg/gdi pkg/bus pkg/cell pkg/client pkg/document pkg/openid pkg/opt",
		modules: "github.com/urfave/cli/v2"},
	{path: "tools/replay/screen", level: programs,
		imports: "pkg/grid events orders events/filter events/diff pkg/state pkg/view pkg/history pkg/opt",
		modules: "charm.land/bubbletea/v2 github.com/charmbracelet/x/"},
	{path: "tools/replay", level: programs,
		imports: `pkg/grid events orders pkg/gdi pkg/conf pkg/state qmaster/core schedd/algorithm/shipped
			pkg/codec pkg/accounting pkg/document pkg/userdb pkg/client pkg/history pkg/opt tools/outcome
			tools/whatif tools/ge/qacct tools/ge/qconf tools/ge/reservation tools/ge/resources tools/ge/qstat
			tools/ge/qsub tools/decide tools/replay/screen`,
		modules: "charm.land/bubbletea/v2 github.com/charmbracelet/x/ github.com/urfave/cli/v2"},
	{path: "tools/sim", level: programs,
		imports: `pkg/grid pkg/conf schedd/algorithm schedd/algorithm/shipped pkg/opt tools/outcome
			tools/simulator/workload`,
		modules: "github.com/urfave/cli/v2"},
	{path: "tools/log", level: programs,
		imports: `pkg/grid events orders pkg/gdi pkg/codec pkg/document pkg/frame pkg/redact pkg/product pkg/archive
			pkg/bus pkg/bus/embedded pkg/cell pkg/history pkg/opt`,
		modules: "github.com/urfave/cli/v2 golang.org/x/sys"},
	{path: "tools/bench", level: programs,
		imports: `pkg/grid events orders pkg/gdi pkg/report pkg/state qmaster/core schedd/algorithm/shipped
			pkg/codec pkg/accounting pkg/bus pkg/cell pkg/client pkg/submit qmaster schedd execd/shepherd execd
			pkg/opt schedd/couple tools/web tools/daemons tools/simulator/workload`,
		modules: "github.com/nats-io/ github.com/hashicorp/go-hclog github.com/urfave/cli/v2 golang.org/x/sys"},
	{path: "tools/attack/attacker", level: programs,
		imports: `orders pkg/bus pkg/cell pkg/client pkg/codec pkg/gdi pkg/grid pkg/madeup pkg/opt pkg/report
			pkg/submit`,
		modules: "github.com/nats-io/nkeys golang.org/x/sys"},
	{path: "tools/attack", level: programs,
		imports: `execd/shepherd pkg/bus pkg/cell pkg/client pkg/document pkg/gdi pkg/grid pkg/opt pkg/userdb
			tools/attack/attacker tools/keys`,
		modules: "github.com/urfave/cli"},
	{path: "tools/backup", level: programs,
		imports: `pkg/grid events pkg/gdi pkg/accounting pkg/state qmaster/core pkg/codec pkg/document pkg/frame
			pkg/product pkg/archive pkg/bus pkg/bus/embedded pkg/cell pkg/history pkg/opt`,
		modules: "github.com/urfave/cli/v2 golang.org/x/sys"},
	{path: "tools/metrics", level: programs,
		imports: "pkg/grid pkg/codec pkg/metrics pkg/metrics/cellmetrics pkg/history pkg/opt",
		modules: "github.com/prometheus/ github.com/urfave/cli/v2"},
	{path: "tools/trace", level: programs,
		imports: `pkg/reason pkg/grid events pkg/gdi pkg/report execd/plan pkg/state pkg/view pkg/codec pkg/product pkg/cell
			pkg/client pkg/history pkg/opt`,
		modules: "go.opentelemetry.io/ github.com/urfave/cli/v2"},
	{path: "tools/mcp", level: programs,
		imports: `pkg/explain pkg/grid pkg/pattern events events/diff events/filter pkg/gdi pkg/conf pkg/state pkg/view
			qmaster/core schedd/algorithm/shipped pkg/codec pkg/document pkg/product pkg/fair pkg/bus pkg/cell pkg/client
			pkg/history pkg/submit pkg/opt tools/outcome tools/outlook tools/jobstory tools/whatif tools/manual`,
		modules: "github.com/google/jsonschema-go github.com/modelcontextprotocol/go-sdk github.com/urfave/cli/v2"},
	{path: "tools/quill-lab/lab", level: programs,
		imports: `pkg/grid events pkg/gdi pkg/codec pkg/document pkg/client pkg/history pkg/opt tools/outlook
			tools/jobstory tools/manual tools/ge/qevent tools/replay tools/sim tools/log tools/bench tools/attack
			tools/backup tools/metrics tools/trace tools/mcp`,
		modules: "github.com/urfave/cli/v2 github.com/charmbracelet/x/term"},
	{path: "tools/quill-lab", level: programs, imports: "pkg/opt tools/quill-lab/lab"},
	{path: "tools/quill-daemon/serve", level: programs,
		imports: `pkg/grid events pkg/gdi pkg/conf schedd/algorithm schedd/algorithm/shipped pkg/document
			pkg/userdb pkg/metrics pkg/cell pkg/client qmaster schedd execd/shepherd execd pkg/opt tools/web
			tools/daemons tools/demo tools/token tools/login`,
		modules: "github.com/hashicorp/go-hclog github.com/urfave/cli/v2"},
	{path: "tools/quill-daemon", level: programs, imports: "pkg/opt tools/quill-daemon/serve"},
	{path: "tools/quill", level: programs,
		imports: `pkg/grid events pkg/gdi pkg/state pkg/view pkg/document pkg/product pkg/cell pkg/client pkg/opt
			tools/keys tools/ge/qevent tools/ge/jobs tools/ge/qrsh tools/ge/qacct tools/ge/qconf
			tools/ge/reservation tools/ge/qping tools/ge/resources tools/ge/qstat tools/ge/qsub
			tools/token tools/gpu tools/proposal`,
		modules: "github.com/urfave/cli/v2"},
	{path: "pkg/testkit", level: tests, modules: "golang.org/x/sys/unix"},
	{path: "pkg/bus/bustest", level: tests},
	{path: "pkg/openid/openidtest", level: tests},
	{path: "pkg/archive/archivetest", level: tests, imports: "pkg/frame pkg/archive"},
	{path: "pkg/opt/opttest", level: tests,
		imports: "pkg/reason pkg/grid pkg/gdi pkg/conf pkg/document pkg/client pkg/opt tools/manual",
		modules: `github.com/cockroachdb/datadriven github.com/kballard/go-shellquote
			github.com/google/jsonschema-go/jsonschema`},
	{path: "tools/daemons/celltest", level: tests,
		imports: "pkg/cell qmaster execd/shepherd tools/daemons pkg/testkit",
		modules: "github.com/hashicorp/go-hclog"},
	{path: "schedd/algorithm/algorithmtest", level: tests,
		imports: `pkg/reason pkg/grid events orders pkg/gdi pkg/report pkg/state pkg/sched qmaster/core schedd/algorithm
			pkg/codec pkg/madeup schedd/couple pkg/testkit`,
		modules: "github.com/cockroachdb/datadriven go.yaml.in/yaml/v3"},
	{path: "tools/simulator", level: tests,
		imports: `pkg/grid events orders pkg/gdi pkg/report pkg/topology pkg/state execd/plan qmaster/core execd/core
			schedd/algorithm pkg/codec schedd/algorithm/shipped schedd/couple`},
	{path: "tools/tidy", level: tests},
}

// rowOf returns the row of a package, nil when there is none.
func rowOf(plan []row, path string) *row {
	for i := range plan {
		if plan[i].path == path {
			return &plan[i]
		}
	}
	for i := range plan {
		if prefix, ok := strings.CutSuffix(plan[i].path, "*"); ok && strings.HasPrefix(path, prefix) {
			return &plan[i]
		}
	}
	return nil
}
