package core

import (
	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

// createAutomaticUser makes a user object for an owner who has none, enforce_user auto, and
// keeps one that was made so for auto_user_delete_time from now.
func (st *step) createAutomaticUser(owner string) {
	s := st.cell.Settings()
	if !s.MakesUsers {
		return
	}
	keep := s.KeepsUsers
	u := st.state.User(owner)
	switch {
	case u == nil:
		u := &grid.User{Name: owner, OTicket: st.cell.Number("auto_user_oticket"), FShare: st.cell.Number("auto_user_fshare"),
			DefaultProject: st.cell.Param("auto_user_default_project"), Version: 1}
		if keep > 0 {
			u.DeleteTime = st.cell.Now.Add(keep)
		}
		st.emit(events.Add(u))
	case u.DeleteTime != 0 && u.DeleteTime < st.cell.Now.Add(keep/2):
		n := *u
		n.DeleteTime = st.cell.Now.Add(keep)
		st.emit(events.Mod(&n))
	}
}

// deleteAutomaticUsers removes user objects whose time has come, unless their jobs are
// still there.
func (c *Core) deleteAutomaticUsers() {
	var gone []string
	c.state.Each(grid.KindUser, func(o grid.Object) bool {
		if u := o.(*grid.User); u.DeleteTime != 0 && u.DeleteTime <= c.cell.Now {
			gone = append(gone, u.Name)
		}
		return true
	})
	for _, name := range gone {
		if c.state.Owned(name) == 0 {
			u := c.state.User(name)
			c.emit(events.Del(grid.KindUser, u.Key()))
			userChanged(c, u, nil)
		} else {
			c.createAutomaticUser(name)
		}
	}
}
