package document

import (
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
)

// ComplexAttribute is an attribute of the complex.
type ComplexAttribute struct {
	Name        string `json:"name"`
	Shortcut    string `json:"shortcut"`
	Type        string `json:"type" jsonschema:"INT, DOUBLE, STRING, CSTRING, RESTRING, HOST, BOOL, TIME, MEMORY or RSMAP"`
	Relop       string `json:"relop" jsonschema:"one of ==, !=, >=, >, <=, < and EXCL"`
	Requestable string `json:"requestable" jsonschema:"YES, NO or FORCED"`
	Consumable  string `json:"consumable" jsonschema:"YES, NO, JOB or HOST"`
	Default     Value  `json:"default" jsonschema:"number (bytes, seconds or units), boolean or text by the type; the text infinity is unlimited, an empty text NONE"`
	Urgency     Amount `json:"urgency" jsonschema:"urgency for each unit that is requested"`
}

func complexAttributeOf(c *grid.Centry) ComplexAttribute {
	standard := c.Default
	if strings.EqualFold(standard, "none") {
		standard = ""
	}
	return ComplexAttribute{Name: c.Name, Shortcut: c.Shortcut, Type: string(c.Type), Relop: string(c.Relop),
		Requestable: c.Requestable,
		Consumable:  c.Consumable, Default: amountOf(c.Type, standard), Urgency: amountOf("DOUBLE", c.Urgency)}
}

// Configuration is the global configuration or that of a host.
type Configuration struct {
	Host       string               `json:"host" jsonschema:"global, or the host"`
	Parameters map[string]Parameter `json:"parameters" jsonschema:"parameters of sge_conf(5) that it sets: number (seconds or units), boolean, list of names or text; empty: none"`
}

// Parameter is a number, a boolean, a text or a list of texts.
type Parameter any

func configurationOf(c *grid.Conf) Configuration {
	out := Configuration{c.Host, map[string]Parameter{}}
	for _, e := range c.Entries {
		text := e.Text
		if strings.EqualFold(text, "none") {
			text = ""
		}
		p := grid.ParameterOf(e.Name)
		switch {
		case p != nil && p.List:
			out.Parameters[e.Name] = list(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \t", r) }))
		case p != nil:
			out.Parameters[e.Name] = amountOf(p.Type, text)
		default:
			out.Parameters[e.Name] = text
		}
	}
	return out
}

// QuotaSet is a resource quota set.
type QuotaSet struct {
	Name        string      `json:"name"`
	Description string      `json:"description" jsonschema:"empty: none"`
	Enabled     bool        `json:"enabled"`
	Limits      []QuotaRule `json:"limit" jsonschema:"rules in their order; the first one that applies counts"`
}

// QuotaRule is a rule of a resource quota set.
type QuotaRule struct {
	Name     string           `json:"name,omitzero" jsonschema:"absent: the rule has none"`
	Users    *QuotaFilter     `json:"users,omitzero" jsonschema:"absent: all"`
	Projects *QuotaFilter     `json:"projects,omitzero" jsonschema:"absent: all"`
	PEs      *QuotaFilter     `json:"pes,omitzero" jsonschema:"absent: all"`
	Queues   *QuotaFilter     `json:"queues,omitzero" jsonschema:"absent: all"`
	Hosts    *QuotaFilter     `json:"hosts,omitzero" jsonschema:"absent: all"`
	To       map[string]Value `json:"to" jsonschema:"limit by attribute: number (bytes, seconds or units), boolean or text; a text with $ is a dynamic limit, infinity unlimited"`
	Text     string           `json:"text" jsonschema:"the rule as it is written"`
}

// QuotaFilter is the names that a rule applies to.
type QuotaFilter struct {
	Each bool    `json:"each" jsonschema:"true: each name has a limit of its own"`
	List []Scope `json:"list"`
}

func quotaSetOf(v *view.View, r *grid.RQS) QuotaSet {
	out := QuotaSet{Name: r.Name, Description: r.Description, Enabled: r.Enabled, Limits: []QuotaRule{}}
	for _, text := range r.Limits {
		row := QuotaRule{Text: text, To: map[string]Value{}}
		if rule, err := grid.ParseQuotaRule(text); err == nil {
			row.Name, row.To = rule.Name, valuesOf(v, rule.Limits)
			for i, f := range [...]**QuotaFilter{grid.QuotaUsers: &row.Users, grid.QuotaProjects: &row.Projects,
				grid.QuotaPEs:    &row.PEs,
				grid.QuotaQueues: &row.Queues, grid.QuotaHosts: &row.Hosts} {
				if by := rule.Filters[i]; len(by.List) > 0 {
					*f = &QuotaFilter{by.Each, scopes(by)}
				}
			}
		}
		out.Limits = append(out.Limits, row)
	}
	return out
}

// ShareTree is qconf -sstree, -sst, -sstnode and -rsstnode.
type ShareTree struct {
	Nodes Rows[ShareNode] `json:"nodes" jsonschema:"nodes of the share tree, each before those below it"`
}

// SchemaName returns qconf-sharetree.
func (ShareTree) SchemaName() string { return "qconf-sharetree" }

// ShareNode is a node of the share tree.
type ShareNode struct {
	ID       uint32   `json:"id"`
	Name     string   `json:"name"`
	Path     string   `json:"path" jsonschema:"names of the nodes from the root on, / the root"`
	Type     string   `json:"type" jsonschema:"user or project"`
	Shares   uint32   `json:"shares"`
	Children []uint32 `json:"childnodes" jsonschema:"identifiers"`
}

// ShareNodeOf returns the row of a node.
func ShareNodeOf(n *grid.ShareNode, path string) ShareNode {
	kind := "user"
	if n.Type == grid.ShareProject {
		kind = "project"
	}
	return ShareNode{n.ID, n.Name, path, kind, n.Shares, list(n.Children)}
}

// Names is qconf -sql, -sel, -sm, -sobjl and so on.
type Names struct {
	Names []string `json:"names" jsonschema:"names of the objects, users or hosts"`
}

// SchemaName returns qconf-names.
func (Names) SchemaName() string { return "qconf-names" }

// NamesOf returns the document of a list.
func NamesOf(names []string) Names { return Names{list(names)} }

// GroupTree is qconf -shgrp_tree.
type GroupTree struct {
	Members Rows[GroupMember] `json:"members" jsonschema:"the group, and each member after the group that it is in"`
}

// SchemaName returns qconf-hgroup-tree.
func (GroupTree) SchemaName() string { return "qconf-hgroup-tree" }

// GroupMember is a host or group in a host group.
type GroupMember struct {
	Name  string `json:"name" jsonschema:"host or @group"`
	Group string `json:"group,omitzero" jsonschema:"the group that it is in; absent: it is the requested group"`
	Depth int    `json:"depth" jsonschema:"0: the requested group"`
}

// Detached is qconf -sds.
type Detached struct {
	Settings Rows[Setting] `json:"settings" jsonschema:"values of cluster queues for hosts on which they have no instance"`
}

// SchemaName returns qconf-detached.
func (Detached) SchemaName() string { return "qconf-detached" }

// Setting is the value of an attribute of a cluster queue for a host.
type Setting struct {
	Queue     string `json:"qname"`
	Attribute string `json:"attribute"`
	Host      string `json:"hostname"`
}

// EventClients is qconf -secl.
type EventClients struct {
	Clients Rows[EventClient] `json:"clients" jsonschema:"by number"`
}

// SchemaName returns qconf-event-clients.
func (EventClients) SchemaName() string { return "qconf-event-clients" }

// EventClient is a client of qmaster with a number.
type EventClient struct {
	ID   uint32 `json:"id"`
	Name string `json:"name"`
	Host string `json:"hostname"`
}

// EventClientsOf returns the document of a list.
func EventClientsOf(clients []gdi.EventClient) EventClients {
	return EventClients{rowsOf(clients, func(c gdi.EventClient) EventClient { return EventClient(c) })}
}
