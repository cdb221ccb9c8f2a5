package resources

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
	"github.com/quill-grid/quill/pkg/view"
)

// RunQquota is qquota(1): it lists what is used of resource quotas. It returns the exit status.
func RunQquota(env opt.Env, args []string) int {
	return opt.RunApp(env, opt.App(env, quotaCommand(), showQuotas), args)
}

// quotaQuery is the query of the command line.
type quotaQuery struct {
	by        [grid.QuotaFilters]grid.Names // patterns
	resources grid.Names                    // -l
	format    switches.Format
}

func quotaFormat(w *quotaQuery) *switches.Format { return &w.format }

func quotaCommand() *switches.Command[quotaQuery] {
	by := func(filter int) func(*quotaQuery, []string) error {
		return func(w *quotaQuery, words []string) error { w.by[filter] = switches.Names(words[0]); return nil }
	}
	return &switches.Command[quotaQuery]{
		Name: "qquota", Usage: "[options]", Indent: 2, Column: 39,
		Defaults: "sge_qquota",
		Begin:    func(w *quotaQuery) { w.format.Begin() },
		Unknown: func(word string) error {
			return &switches.Error{Text: "error: invalid option argument \"" + word + "\"", Help: true}
		},
		Switches: []switches.Switch[quotaQuery]{
			switches.Fmt(quotaFormat),
			{Name: "help", Help: "print this help"},
			{Name: "h", Args: "wc_host_list|wc_hostgroup_list", Help: "display only selected hosts", Take: switches.One,
				Set: by(grid.QuotaHosts)},
			{Name: "l", Args: "resource_attributes", Help: "request the given resources", Take: switches.One,
				Set: func(w *quotaQuery, words []string) error { w.resources = switches.Names(words[0]); return nil }},
			{Name: "u", Args: "user_list", Help: "display only selected users", Take: switches.One, Set: by(grid.QuotaUsers)},
			{Name: "pe", Args: "wc_pe_list", Help: "display only selected parallel environments", Take: switches.One,
				Set: by(grid.QuotaPEs)},
			{Name: "P", Args: "wc_project_list", Help: "display only selected projects", Take: switches.One,
				Set: by(grid.QuotaProjects)},
			{Name: "q", Args: "wc_cqueue_list", Help: "display only selected queues", Take: switches.One,
				Set: by(grid.QuotaQueues)},
			switches.XML(quotaFormat),
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

func showQuotas(ctx context.Context, env opt.Env, w *quotaQuery) int {
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
		printQuotasXML(env.Stdout, quotas)
	default:
		printQuotas(env.Stdout, quotas)
	}
	return 0
}

// ask gets the quotas that are wanted. What is used of them follows from the tasks that have started.
func (w *quotaQuery) ask(ctx context.Context, env opt.Env) ([]view.Quota, error) {
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

// printQuotas is a line for each quota.
func printQuotas(out io.Writer, quotas []view.Quota) {
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

// printQuotasXML is -xml.
func printQuotasXML(out io.Writer, quotas []view.Quota) {
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
