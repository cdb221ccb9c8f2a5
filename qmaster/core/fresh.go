package core

import (
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// allHosts is the host group that new execution hosts join.
const allHosts = "@allhosts"

// Fresh is the first list of a new cell: what Grid Engine's installation
// makes. admin becomes manager beside root; host may administer and submit.
func Fresh(now grid.Time, admin, host string) events.List {
	objects := append([]grid.Object{&grid.Counter{Name: grid.JobSeqNum}}, grid.FreshCell()...)
	objects = append(objects, &grid.Manager{Name: "root"}, &grid.AdminHost{Name: host}, &grid.SubmitHost{Name: host})
	if admin != "root" {
		objects = append(objects, &grid.Manager{Name: admin})
	}
	l := events.List{Seq: 1, At: now, Cause: events.Cause{Who: admin + "@" + host, What: ofInstall}}
	for _, o := range objects {
		grid.SetVersion(o, 1)
		l.Events = append(l.Events, events.Add(o))
	}
	return l
}

// AdmitMasterHost returns the list that makes the host that qmaster begins on an admin and submit host, when it is no
// admin host: a cell that continues under another host name is administered from there. Without events there is nothing
// to do. Whether the master host may submit is the administrator's to change afterwards.
func AdmitMasterHost(s *state.State, now grid.Time, host string) events.List {
	l := events.List{Seq: s.Seq + 1, At: max(now, s.At), Cause: events.Cause{Who: "qmaster@" + host, What: "start"}}
	if s.Get(grid.KindAdminHost, grid.Key{Name: host}) != nil {
		return l
	}
	for _, o := range []grid.Object{&grid.AdminHost{Name: host}, &grid.SubmitHost{Name: host}} {
		if s.Get(o.Kind(), o.Key()) == nil {
			grid.SetVersion(o, 1)
			l.Events = append(l.Events, events.Add(o))
		}
	}
	return l
}

// join takes a new execution host in, as Grid Engine's installation of a host
// does: it may administer and submit, and belongs to @allhosts.
func (c *Core) join(host string) {
	c.addMissing(&grid.ExecHost{Name: host})
	c.addMissing(&grid.AdminHost{Name: host})
	c.addMissing(&grid.SubmitHost{Name: host})
	if g := c.state.HGroup(allHosts); g != nil && !g.HostList.Has(host) {
		n := *g
		n.HostList = append(slices.Clone(g.HostList), host)
		n.Version++
		c.emit(events.Mod(&n))
		hgroupChanged(c, g, &n)
	}
}
