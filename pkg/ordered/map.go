package ordered

import (
	"cmp"

	"github.com/tidwall/btree"
)

// Map holds values by key, in the order of the keys.
type Map[K cmp.Ordered, V any] interface {
	Len() int
	Get(K) (V, bool)
	// Set replaces a value and returns the one before.
	Set(K, V) (old V, was bool)
	// Load is Set, faster when the key comes after all others.
	Load(K, V) (old V, was bool)
	Delete(K) (old V, was bool)
	Min() (K, V, bool)
	Max() (K, V, bool)
	PopMin() (K, V, bool)
	// AtLeast returns the first entry whose key is not less, After the first with a greater key.
	AtLeast(K) (K, V, bool)
	After(K) (K, V, bool)
	Keys() []K
	// Scan calls f with all entries until it returns false. The map must not change meanwhile.
	Scan(f func(K, V) bool)
	// Ascend is Scan from the first key that is not less.
	Ascend(from K, f func(K, V) bool)
	// Each is Ascend without keys; it reports whether f never returned false.
	Each(from K, f func(V) bool) (all bool)
	// Range returns the values of the keys that are not less than first nor greater than last.
	Range(first, last K) []V
	// Copy returns a map that stays as this one is now.
	Copy() Map[K, V]
}

// NewMap returns an empty map.
func NewMap[K cmp.Ordered, V any]() Map[K, V] { return new(keyed[K, V]) }

type keyed[K cmp.Ordered, V any] btree.Map[K, V]

func (m *keyed[K, V]) tree() *btree.Map[K, V] { return (*btree.Map[K, V])(m) }

func (m *keyed[K, V]) Len() int                         { return m.tree().Len() }
func (m *keyed[K, V]) Get(k K) (V, bool)                { return m.tree().Get(k) }
func (m *keyed[K, V]) Set(k K, v V) (V, bool)           { return m.tree().Set(k, v) }
func (m *keyed[K, V]) Load(k K, v V) (V, bool)          { return m.tree().Load(k, v) }
func (m *keyed[K, V]) Delete(k K) (V, bool)             { return m.tree().Delete(k) }
func (m *keyed[K, V]) Min() (K, V, bool)                { return m.tree().Min() }
func (m *keyed[K, V]) Max() (K, V, bool)                { return m.tree().Max() }
func (m *keyed[K, V]) PopMin() (K, V, bool)             { return m.tree().PopMin() }
func (m *keyed[K, V]) Keys() []K                        { return m.tree().Keys() }
func (m *keyed[K, V]) Scan(f func(K, V) bool)           { m.tree().Scan(f) }
func (m *keyed[K, V]) Ascend(from K, f func(K, V) bool) { m.tree().Ascend(from, f) }
func (m *keyed[K, V]) Copy() Map[K, V]                  { return (*keyed[K, V])(m.tree().Copy()) }

func (m *keyed[K, V]) AtLeast(k K) (key K, value V, any bool) {
	m.tree().Ascend(k, func(next K, v V) bool {
		key, value, any = next, v, true
		return false
	})
	return key, value, any
}

func (m *keyed[K, V]) After(k K) (key K, value V, any bool) {
	m.tree().Ascend(k, func(next K, v V) bool {
		if any = next > k; any {
			key, value = next, v
		}
		return !any
	})
	return key, value, any
}

func (m *keyed[K, V]) Each(from K, f func(V) bool) (all bool) {
	all = true
	m.tree().Ascend(from, func(_ K, v V) bool {
		all = f(v)
		return all
	})
	return all
}

func (m *keyed[K, V]) Range(first, last K) (values []V) {
	m.tree().Ascend(first, func(k K, v V) bool {
		if k > last {
			return false
		}
		values = append(values, v)
		return true
	})
	return values
}
