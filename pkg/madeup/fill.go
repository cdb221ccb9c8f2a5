package madeup

import (
	"math"
	"math/rand/v2"
	"reflect"
)

// Maker makes values up.
type Maker struct {
	Dice  *rand.Rand
	Texts []string // to choose from
	Nil   bool     // pointers may be nil
}

// Text is one of the texts.
func (m Maker) Text() string { return m.Texts[m.Dice.IntN(len(m.Texts))] }

// Some fills a field or two of the struct that p points at.
func (m Maker) Some(p any) {
	v := reflect.ValueOf(p).Elem()
	for range 1 + m.Dice.IntN(2) {
		m.fill(v.Field(m.Dice.IntN(v.NumField())))
	}
}

// All fills all of what p points at.
func (m Maker) All(p any) { m.fill(reflect.ValueOf(p).Elem()) }

func (m Maker) fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if m.Nil && m.Dice.IntN(4) == 0 {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		m.fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			m.fill(v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			m.fill(v.Index(i))
		}
	case reflect.Slice:
		n := m.Dice.IntN(3)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			m.fill(v.Index(i))
		}
	case reflect.String:
		v.SetString(m.Text())
	case reflect.Bool:
		v.SetBool(m.Dice.IntN(2) == 0)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint([]uint64{0, 1, 2, 7, math.MaxUint64}[m.Dice.IntN(5)])
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt([]int64{0, 1, -1, 7, math.MaxInt64, math.MinInt64}[m.Dice.IntN(6)])
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{0, 1, -1, 0.5, 1e300, math.NaN(), math.Inf(1), math.Inf(-1)}[m.Dice.IntN(8)])
	}
}
