package qquota

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
	"github.com/quill-grid/quill/pkg/view"
)

// App is the command for urfave/cli.
func App(env opt.Env) *cli.App { return opt.App(env, command(), show) }

// Run is the whole command; it returns the exit status.
func Run(env opt.Env, args []string) int { return opt.RunApp(env, App(env), args) }

// query is the query of the command line.
type query struct {
	by        [grid.QuotaFilters]grid.Names // patterns
	resources grid.Names                    // -l
	format    switches.Format
}

type sw = switches.Switch[query]

func formatOf(w *query) *switches.Format { return &w.format }

func command() *switches.Command[query] {
	by := func(filter int) func(*query, []string) error {
		return func(w *query, words []string) error { w.by[filter] = switches.Names(words[0]); return nil }
	}
	return &switches.Command[query]{
		Name: "qquota", Usage: "[options]", Indent: 2, Column: 39,
		Defaults: "sge_qquota",
		Begin:    func(w *query) { w.format.Begin() },
		Unknown: func(word string) error {
			return &switches.Error{Text: "error: invalid option argument \"" + word + "\"", Help: true}
		},
		Switches: []sw{
			switches.Fmt(formatOf),
			{Name: "help", Help: "print this help"},
			{Name: "h", Args: "wc_host_list|wc_hostgroup_list", Help: "display only selected hosts", Take: switches.One,
				Set: by(grid.QuotaHosts)},
			{Name: "l", Args: "resource_attributes", Help: "request the given resources", Take: switches.One,
				Set: func(w *query, words []string) error { w.resources = switches.Names(words[0]); return nil }},
			{Name: "u", Args: "user_list", Help: "display only selected users", Take: switches.One, Set: by(grid.QuotaUsers)},
			{Name: "pe", Args: "wc_pe_list", Help: "display only selected parallel environments", Take: switches.One,
				Set: by(grid.QuotaPEs)},
			{Name: "P", Args: "wc_project_list", Help: "display only selected projects", Take: switches.One,
				Set: by(grid.QuotaProjects)},
			{Name: "q", Args: "wc_cqueue_list", Help: "display only selected queues", Take: switches.One,
				Set: by(grid.QuotaQueues)},
			switches.XML(formatOf),
		},
		Legend: `
resource_attributes     resource_name,resource_name,...
wc_cqueue               wildcard expression matching a cluster queue
wc_cqueue_list          wc_cqueue[,wc_cqueue,...]
wc_host                 wildcard expression matching a host
wc_host_list            wc_host[,wc_host,...]
wc_hostgroup            wildcard expression matching a hostgroup
wc_hostgroup_list       wc_hostgroup[,wc_hostgroup,...]
wc_pe                   wildcard expression matching a parallel environment
wc_pe_list              wc_pe[,wc_pe,...]
wc_project              wildcard expression matching a project
wc_project_list         wc_project[,wc_project,...]
user_list               user[,user,...]
`,
	}
}

func show(ctx context.Context, env opt.Env, w *query) int {
	if len(w.by[grid.QuotaUsers]) == 0 {
		w.by[grid.QuotaUsers] = grid.Names{env.User()}
	}
	quotas, err := w.ask(ctx, env)
	if err != nil {
		return env.Report(err, 1)
	}
	switch {
	case w.format.JSON():
		return env.Document(document.QuotasOf(quotas))
	case w.format.XML():
		printXML(env.Stdout, quotas)
	default:
		printTable(env.Stdout, quotas)
	}
	return 0
}

// ask gets the quotas that are wanted. What is used of them follows from the tasks that have started.
func (w *query) ask(ctx context.Context, env opt.Env) ([]view.Quota, error) {
	c, err := env.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	st, err := client.Fetch(ctx, c, gdi.Get{Kinds: []grid.Kind{grid.KindRQS}})
	if err != nil || st.Len(grid.KindRQS) == 0 {
		return nil, err
	}
	if err := client.FetchInto(ctx, c, gdi.Get{Kinds: append(view.ClusterKinds(), grid.KindJATask)}, st); err != nil {
		return nil, err
	}
	if err := client.FetchRunning(ctx, c, st); err != nil {
		return nil, err
	}
	return view.Of(st).Quotas(view.QuotaFilter{By: w.by, Resources: w.resources}), nil
}

// printTable is a line for each quota.
func printTable(out io.Writer, quotas []view.Quota) {
	if len(quotas) == 0 {
		return
	}
	fmt.Fprintf(out, "%-18s %-20s %s\n%s\n", "resource quota rule", "limit", "filter", strings.Repeat("-", 80))
	for _, q := range quotas {
		limit := q.Resource + "=" + q.LimitText
		if q.Used != nil {
			limit = q.Resource + "=" + q.UsedText() + "/" + q.LimitText
		}
		fmt.Fprintf(out, "%-18s %-20s %s\n", q.Set+"/"+q.Rule, limit, filters(q))
	}
}

func filters(q view.Quota) string {
	var parts []string
	for i, f := range q.By {
		if len(f.List) > 0 {
			parts = append(parts, grid.QuotaWords[i]+" "+f.String())
		}
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, " ")
}

// printXML is -xml.
func printXML(out io.Writer, quotas []view.Quota) {
	fmt.Fprint(out, "<?xml version='1.0'?>\n"+
		"<qquota_result xmlns=\"http://arc.liv.ac.uk/repos/darcs/sge/source/source/dist/util/resources/schemas/qquota/qquota.xsd\">\n")
	for _, q := range quotas {
		fmt.Fprintf(out, " <qquota_rule name='%s'>\n", escape(q.Set+"/"+q.Rule))
		for i, f := range q.By {
			if len(f.List) > 0 {
				fmt.Fprintf(out, "   <%s>%s</%[1]s>\n", grid.QuotaWords[i], escape(strings.Join(f.List, ",")))
			}
		}
		used := ""
		if q.Used != nil {
			used = fmt.Sprintf(" value='%s'", escape(q.UsedText()))
		}
		fmt.Fprintf(out, "   <limit resource='%s' limit='%s'%s/>\n </qquota_rule>\n", escape(q.Resource),
			escape(q.LimitText), used)
	}
	fmt.Fprintln(out, "</qquota_result>")
}

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}
