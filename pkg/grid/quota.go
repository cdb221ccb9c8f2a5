package grid

// RQS is a resource quota set, sge_resource_quota(5): rules as written, in
// order.
type RQS struct {
	Name        string `conf:"name"`
	Description string `conf:"description,NONE"`
	Enabled     bool   `conf:"enabled"`
	Limits      Names  `conf:"limit"`
	Version     uint32 `conf:"-"`
}

func (*RQS) Kind() Kind { return KindRQS }
func (r *RQS) Key() Key { return Key{Name: r.Name} }
