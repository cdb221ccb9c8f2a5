package document

import (
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
)

// Quotas is qquota.
type Quotas struct {
	Usage Rows[Quota] `json:"quota_usage" jsonschema:"limits of resource quota rules and what is used of them, in the order of sets and rules"`
}

// SchemaName returns qquota.
func (Quotas) SchemaName() string { return "qquota" }

// Quota is the usage of one limit of a resource quota rule.
type Quota struct {
	Set      string   `json:"rqs_name" jsonschema:"resource quota set"`
	Rule     string   `json:"rule_name" jsonschema:"name of the rule, or its position in the set"`
	Users    []Scope  `json:"users" jsonschema:"users and @user lists with this limit; empty: all"`
	Projects []Scope  `json:"projects" jsonschema:"projects with this limit; empty: all"`
	PEs      []Scope  `json:"pes" jsonschema:"parallel environments with this limit; empty: all"`
	Queues   []Scope  `json:"queues" jsonschema:"cluster queues with this limit; empty: all"`
	Hosts    []Scope  `json:"hosts" jsonschema:"hosts and @host groups with this limit; empty: all"`
	Resource string   `json:"resource" jsonschema:"attribute of the complex that is limited"`
	Limit    string   `json:"limit" jsonschema:"the limit as configured"`
	Max      *float64 `json:"max,omitzero" jsonschema:"the limit in bytes, seconds or units; absent when it is infinite, not known or not a number"`
	Used     *float64 `json:"used,omitzero" jsonschema:"usage in bytes, seconds or units; absent when requests are compared with the limit and nothing is counted"`
}

// Scope is a name that a resource quota rule applies to.
type Scope struct {
	Exclude bool   `json:"exclude" jsonschema:"true: the rule does not apply to the name"`
	Name    string `json:"name" jsonschema:"a name, @set or pattern"`
}

// QuotasOf returns the document of some rows.
func QuotasOf(rows []view.Quota) Quotas { return Quotas{Usage: rowsOf(rows, quotaOf)} }

func quotaOf(q view.Quota) Quota {
	return Quota{Set: q.Set, Rule: q.Rule, Users: scopes(q.By[grid.QuotaUsers]),
		Projects: scopes(q.By[grid.QuotaProjects]),
		PEs:      scopes(q.By[grid.QuotaPEs]), Queues: scopes(q.By[grid.QuotaQueues]), Hosts: scopes(q.By[grid.QuotaHosts]),
		Resource: q.Resource, Limit: q.LimitText, Max: quantity(q.Type, q.Limit), Used: quantity(q.Type, q.Used)}
}

func quantity(t grid.CentryType, n *float64) *float64 {
	if n = known(n); n == nil {
		return nil
	}
	return new(rounded(t, *n))
}

func scopes(f grid.QuotaFilter) []Scope {
	out := []Scope{}
	for _, n := range f.List {
		name, exclude := strings.CutPrefix(n, "!")
		out = append(out, Scope{Exclude: exclude, Name: name})
	}
	return out
}
