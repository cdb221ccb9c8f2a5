package grid

import "strings"

// Instance is the health of one instance of a resource map, while it is not in service. Neither
// state ends tasks that have the instance; no task is granted it.
type Instance struct {
	Resource, ID string `see:"keep"`
	Host         string `see:"keep"` // or "global"
	Disabled     bool   // by an administrator, until one enables it
	Failed       bool   // by a load sensor, until the sensor reports again or the state is cleared
	Message      string `see:"text"` // what the sensor has said of it
}

func (*Instance) Kind() Kind { return KindInstance }
func (i *Instance) Key() Key { return Key{Name: i.Name()} }

// Name returns how qmod addresses the instance: gpu:GPU0@node1.
func (i *Instance) Name() string { return i.Resource + ":" + i.ID + "@" + i.Host }

// ParseInstance reads what Name returns. The id may have any colon but the first, and any @ but
// the last.
func ParseInstance(name string) (i Instance, ok bool) {
	resource, rest, ok := strings.Cut(name, ":")
	at := strings.LastIndexByte(rest, '@')
	if !ok || at < 0 {
		return i, false
	}
	i = Instance{Resource: resource, ID: rest[:at], Host: rest[at+1:]}
	return i, i.Resource != "" && i.ID != "" && i.Host != ""
}

// Marks returns the letters after the id in listings, in brackets: E failed, d disabled.
func (i *Instance) Marks() string {
	letters := ""
	if i.Failed {
		letters += "E"
	}
	if i.Disabled {
		letters += "d"
	}
	if letters == "" {
		return ""
	}
	return "[" + letters + "]"
}
