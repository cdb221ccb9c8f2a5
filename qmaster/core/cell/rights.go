package cell

import (
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// QueueAction is what qmod does to a queue instance: bits set or cleared, and
// the words of its answers.
type QueueAction struct {
	Set, Clear grid.QueueState
	Word       string
	operator   bool // not for queue owners
	Did        gdi.Did
}

// QueueActionOf returns what an action of qmod does to queue instances; false: it is none.
func QueueActionOf(action string) (QueueAction, bool) {
	switch action {
	case "disable":
		return QueueAction{Set: grid.QueueDisabled, Word: "disabled", Did: gdi.DidDisable}, true
	case "enable":
		return QueueAction{Clear: grid.QueueDisabled, Word: "enabled", Did: gdi.DidEnable}, true
	case "suspend":
		return QueueAction{Set: grid.QueueSuspended, Word: "suspended", Did: gdi.DidSuspend}, true
	case "unsuspend":
		return QueueAction{Clear: grid.QueueSuspended, Word: "unsuspended", Did: gdi.DidUnsuspend}, true
	case "clear":
		return QueueAction{Clear: grid.QueueError, Word: "no error", operator: true, Did: gdi.DidClear}, true
	}
	return QueueAction{}, false
}

// MayControlQueue reports whether a request may do something to a queue instance: operators may, and owners of the
// queue.
func (c *Cell) MayControlQueue(r gdi.Request, qi *grid.QInstance, a QueueAction) bool {
	if c.IsOperator(r) {
		return true
	}
	q := c.State.CQueue(qi.Queue)
	return q != nil && !a.operator && q.OwnerList.For(qi.Host, c.MemberOf(qi.Host)).Has(r.User)
}

// Owns reports whether a request may act on a job: its owner's, operators' and managers'.
func (c *Cell) Owns(r gdi.Request, j *grid.Job) bool {
	return r.User == j.Owner || c.IsOperator(r)
}

// DepartmentOf is the department user set that has the user, or the default one.
func (c *Cell) DepartmentOf(r gdi.Request) string {
	for _, u := range c.Settings().departments {
		if u.Contains(r.User, r.Group) {
			return u.Name
		}
	}
	return grid.DefaultDepartment
}

// IsOrdinary reports whether a request has the rights of an ordinary user only, whatever
// its user is: its token does not have the scope operate.
func (c *Cell) IsOrdinary(r gdi.Request) bool {
	if r.Token == 0 {
		return false
	}
	t := c.State.Token(r.Token)
	return t == nil || t.Scope < grid.ScopeOperate
}

// IsManager and isOperator report whether a request has the rights of a manager and of
// an operator. Managers are operators, too.
func (c *Cell) IsManager(r gdi.Request) bool { return c.State.IsManager(r.User) && !c.IsOrdinary(r) }
func (c *Cell) IsOperator(r gdi.Request) bool {
	return c.State.IsOperator(r.User) && !c.IsOrdinary(r)
}
