package core

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// trigger asks a daemon for something, or who is there.
func (c *Core) trigger(r gdi.Request, b *gdi.Trigger) []gdi.Answer {
	switch b.Action {
	case "show-scheduler":
		if c.scheduler == "" {
			return []gdi.Answer{gdi.Deny(gdi.StatusUnknown, "no scheduling host defined")}
		}
		return []gdi.Answer{gdi.Done(c.cell.Host)}
	case "ping":
		return []gdi.Answer{gdi.Done(c.cell.Host), gdi.Done(fmt.Sprint(c.began.Unix())), gdi.Done(c.condition())}
	case "show-event-clients":
		return []gdi.Answer{gdi.Done(eventClientsText(c.eventClients()))}
	}
	if !c.cell.IsManager(r) {
		return []gdi.Answer{*gdi.Denied(needsManager(r.User, b.Action))}
	}
	switch b.Action {
	case "schedule":
		c.increaseCounter(grid.ScheddMonitor)
		return []gdi.Answer{gdi.Done(fmt.Sprintf("%s@%s triggers scheduler monitoring", r.User, r.Host))}
	case "kill-qmaster":
		c.ready.Stop = true
		return []gdi.Answer{gdi.Done(fmt.Sprintf("%s@%s kills qmaster", r.User, r.Host))}
	case "kill-schedd":
		return []gdi.Answer{c.killSchedd()}
	case "kill-event-client":
		return c.killEventClients(b.Hosts)
	case "clear-usage":
		return c.bookings.clearUsage(r, b.Hosts)
	case "kill-execd":
		return c.killExecd(b)
	}
	return []gdi.Answer{gdi.Deny(gdi.StatusInvalid, fmt.Sprintf("denied: %q is not supported", b.Action))}
}

// condition is how qmaster is, for qping: OK, or what is missing.
func (c *Core) condition() string {
	hosts, silent := 0, 0
	for _, h := range c.state.ExecHosts() {
		if h.Name == grid.GlobalHost {
			continue
		}
		hosts++
		if l := c.state.Load(h.Name); l == nil || l.Unheard {
			silent++
		}
	}
	scheduler, health := "scheduler "+c.scheduler, "OK"
	if c.scheduler == "" {
		scheduler, health = "no scheduler", "WARNING"
	}
	return fmt.Sprintf("epoch %d | seq %d | jobs %d | hosts %d, silent %d | %s | %s", c.epoch, c.state.Seq,
		c.state.Len(grid.KindJob), hosts, silent, scheduler, health)
}

func needsManager(user, action string) string {
	switch action {
	case "schedule":
		return "starting scheduler monitoring requires manager privileges"
	case "kill-schedd", "kill-event-client":
		return "shutdown requires manager privileges"
	case "kill-qmaster":
		return "shutting down qmaster requires manager privileges"
	case "kill-execd":
		return "shutting down execd requires manager privileges"
	}
	return fmt.Sprintf("denied: %q must be manager for this operation", user)
}

// increaseCounter increases a counter; every mirror receives it.
func (s *step) increaseCounter(name string) {
	s.emit(events.Mod(&grid.Counter{Name: name, Value: s.state.Counter(name) + 1}))
}

// schedulerID is the scheduler's number among the event clients. The others
// are not known by name: they follow the log on their own.
const schedulerID = 1

// eventClients is the list of qconf -secl.
func (c *Core) eventClients() []gdi.EventClient {
	if c.scheduler == "" {
		return nil
	}
	return []gdi.EventClient{{ID: schedulerID, Name: "scheduler", Host: c.cell.Host}}
}

func eventClientsText(list []gdi.EventClient) string {
	if len(list) == 0 {
		return "no event clients registered"
	}
	text := fmt.Sprintf("%8s %-15s %-25s\n%s", "ID", "NAME", "HOST", strings.Repeat("-", 50))
	for _, e := range list {
		text += fmt.Sprintf("\n%8d %-15s %-25s", e.ID, e.Name, e.Host)
	}
	return text
}

// killSchedd commands the scheduler to stop, and ignores its orders from now on.
func (c *Core) killSchedd() gdi.Answer {
	if c.scheduler == "" {
		return gdi.Deny(gdi.StatusUnknown, "no scheduler registered at qmaster")
	}
	c.scheduler = ""
	c.increaseCounter(grid.ScheddStop)
	return gdi.Done("sent shutdown notification to scheduler")
}

// killEventClients is qconf -kec.
func (c *Core) killEventClients(ids grid.Names) (out []gdi.Answer) {
	for _, id := range ids {
		switch {
		case c.scheduler != "" && (id == fmt.Sprint(schedulerID) || id == "all"):
			out = append(out, c.killSchedd())
		case id == "all":
			out = append(out, gdi.Done("no event clients registered"))
		default:
			out = append(out, gdi.Deny(gdi.StatusUnknown, fmt.Sprintf("no event client known with id %s to shutdown", id)))
		}
	}
	return out
}

func (c *Core) killExecd(b *gdi.Trigger) []gdi.Answer {
	hosts := b.Hosts
	if hosts.Has("all") {
		hosts = nil
		for _, h := range c.state.ExecHosts() {
			if h.Name != grid.GlobalHost {
				hosts = append(hosts, h.Name)
			}
		}
	}
	var out []gdi.Answer
	for _, h := range hosts {
		if c.state.Load(h) == nil {
			out = append(out, gdi.Deny(gdi.StatusUnknown, fmt.Sprintf("there is no execution daemon on host %q", h)))
			continue
		}
		c.migrateAll(h)
		cmd := c.outbox.commandFor(h)
		cmd.Stop, cmd.Kill = true, b.Force
		c.outbox.expectStop(h)
		if b.Force {
			out = append(out, gdi.Done(fmt.Sprintf("Killed execution daemon and its jobs on host %s", h)))
		} else {
			out = append(out, gdi.Done(fmt.Sprintf("Killed execution daemon on host %s", h)))
		}
	}
	return out
}
