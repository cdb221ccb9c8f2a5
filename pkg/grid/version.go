package grid

// version points at the Version of kinds that have one, nil for the others.
func version(o Object) *uint32 {
	switch o := o.(type) {
	case *Job:
		return &o.Version
	case *CQueue:
		return &o.Version
	case *ExecHost:
		return &o.Version
	case *HGroup:
		return &o.Version
	case *Centry:
		return &o.Version
	case *PE:
		return &o.Version
	case *Ckpt:
		return &o.Version
	case *Calendar:
		return &o.Version
	case *Userset:
		return &o.Version
	case *User:
		return &o.Version
	case *Project:
		return &o.Version
	case *ShareTree:
		return &o.Version
	case *RQS:
		return &o.Version
	case *Conf:
		return &o.Version
	case *SchedConf:
		return &o.Version
	}
	return nil
}

// Version is the object's version, 0 for kinds without one. It rises with each
// change by a user, never with load or slots in use.
func Version(o Object) uint32 {
	if v := version(o); v != nil {
		return *v
	}
	return 0
}

// SetVersion sets the version of a kind that has one. For objects that were
// not applied yet.
func SetVersion(o Object, n uint32) {
	if v := version(o); v != nil {
		*v = n
	}
}
