package grid

import (
	"slices"
	"strings"
)

// MapGrant is the instances of a resource map that a task has on one of its hosts.
type MapGrant struct {
	Resource string   `see:"keep"` // the RSMAP attribute
	Host     string   `see:"keep"` // where the task uses them
	Global   bool     // they are of the map at "global", not of the host's own
	IDs      []string `see:"keep"` // in the order of the map; a shared one as often as it was granted
	UUIDs    []string `see:"keep"` // what IDs have as characteristic "uuid"; empty when one of them has none
}

// String returns the grant as qstat -j prints it: gpu=node1=(GPU0 GPU1).
func (m MapGrant) String() string {
	return m.Resource + "=" + m.Host + "=(" + strings.Join(m.IDs, " ") + ")"
}

// MapText joins grants with commas; it is empty when there are none.
func MapText(maps []MapGrant) string {
	words := make([]string, len(maps))
	for i, m := range maps {
		words[i] = m.String()
	}
	return strings.Join(words, ",")
}

// MapsOn returns what grants have on a host.
func MapsOn(maps []MapGrant, host string) []MapGrant {
	if !slices.ContainsFunc(maps, func(m MapGrant) bool { return m.Host == host }) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(maps), func(m MapGrant) bool { return m.Host != host })
}

// ParseMapText reads what MapText returns, without what it does not have. ok is false when it is
// something else.
func ParseMapText(text string) (maps []MapGrant, ok bool) {
	for text != "" {
		name, rest, named := strings.Cut(text, "=")
		host, rest, placed := strings.Cut(rest, "=(")
		ids, rest, closed := strings.Cut(rest, ")")
		if !named || !placed || !closed {
			return nil, false
		}
		maps = append(maps, MapGrant{Resource: name, Host: host, IDs: strings.Fields(ids)})
		text = strings.TrimPrefix(rest, ",")
	}
	return maps, true
}

// InstanceSeconds is how long a record's task had instances of each resource map: the time of its
// attempt times their number, in the order of the maps.
func (a *Accounting) InstanceSeconds() (names []string, seconds []float64) {
	for _, m := range a.Maps {
		i := slices.Index(names, m.Resource)
		if i < 0 {
			i, names, seconds = len(names), append(names, m.Resource), append(seconds, 0)
		}
		seconds[i] += max(a.End.Sub(a.Start), 0) * float64(len(m.IDs))
	}
	return names, seconds
}
