package core

import (
	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

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
