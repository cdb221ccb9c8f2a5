package grid

// Userset is an access list or department, access_list(5).
type Userset struct {
	Name    string `conf:"name" see:"keep"`
	Type    string `conf:"type" see:"keep"` // ACL, DEPT or "ACL DEPT"
	FShare  uint32 `conf:"fshare"`
	OTicket uint32 `conf:"oticket"`
	Entries Names  `conf:"entries,comma" see:"who"` // users and @unix groups
	Version uint32 `conf:"-"`
}

func (*Userset) Kind() Kind { return KindUserset }
func (u *Userset) Key() Key { return Key{Name: u.Name} }

// Contains reports whether a user or a member of the group is in the list.
func (u *Userset) Contains(user, group string) bool {
	for _, e := range u.Entries {
		if e == user || (group != "" && e == "@"+group) {
			return true
		}
	}
	return false
}

// User is a user object, user(5). DeleteTime is when an automatically created one is
// removed; 0 = never. The user's usage is in a Booking.
type User struct {
	Name           string `conf:"name" see:"who"`
	OTicket        uint32 `conf:"oticket"`
	FShare         uint32 `conf:"fshare"`
	DeleteTime     Time   `conf:"delete_time"`
	DefaultProject string `conf:"default_project,NONE" see:"who"`
	Version        uint32 `conf:"-"`
}

func (*User) Kind() Kind { return KindUser }
func (u *User) Key() Key { return Key{Name: u.Name} }

// Project is a project object, project(5).
type Project struct {
	Name    string `conf:"name" see:"who"`
	OTicket uint32 `conf:"oticket"`
	FShare  uint32 `conf:"fshare"`
	ACL     Names  `conf:"acl,space" see:"keep"`
	XACL    Names  `conf:"xacl,space" see:"keep"`
	Version uint32 `conf:"-"`
}

func (*Project) Kind() Kind { return KindProject }
func (p *Project) Key() Key { return Key{Name: p.Name} }

// Manager is a user who may do everything (qconf -am).
type Manager struct {
	Name string `see:"who"`
}

func (*Manager) Kind() Kind { return KindManager }
func (m *Manager) Key() Key { return Key{Name: m.Name} }

// Operator is a user who may run the cluster but not configure it (qconf -ao).
type Operator struct {
	Name string `see:"who"`
}

func (*Operator) Kind() Kind { return KindOperator }
func (o *Operator) Key() Key { return Key{Name: o.Name} }

// ShareTree is the one share tree, share_tree(5): nodes by id, 0 is the root.
type ShareTree struct {
	Nodes   []ShareNode
	Version uint32
}

// The types of share tree nodes, and the name of the leaf that stands for the
// users who have none of their own there.
const (
	ShareUser    uint32 = 0 // or a group
	ShareProject uint32 = 1
	ShareDefault        = "default"
)

// ShareNode is a node of the share tree.
type ShareNode struct {
	ID, Type uint32
	Name     string `see:"who"`
	Shares   uint32
	Children []uint32
}

func (*ShareTree) Kind() Kind { return KindShareTree }
func (*ShareTree) Key() Key   { return Key{Name: "sharetree"} }
