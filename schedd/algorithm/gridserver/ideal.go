package gridserver

import (
	"math/big"

	"github.com/quill-grid/quill/pkg/ordered"
)

// caps counts sessions by how many engines they can use at most.
type caps = ordered.Map[int, int]

// claim is what sessions of one weight can use.
type claim struct {
	weight *big.Rat
	caps   caps
}

// fill divides engines by weight. A claim that can use less than its share gets what it
// can use, and the others share the rest by weight (max-min fairness). It returns the
// engines per unit of weight; unbounded when every claim is satisfied.
func fill(engines *big.Rat, claims []claim) (level *big.Rat, bounded bool) {
	type open struct {
		*big.Rat    // weight
		caps        caps
		most, count int // the first entry of caps that does not count yet
		more        bool
	}
	rest, total := new(big.Rat).Set(engines), new(big.Rat)
	opens := make([]open, 0, len(claims))
	x := new(big.Rat)
	for _, c := range claims {
		if c.weight.Sign() == 0 {
			continue
		}
		n := 0
		for most, count, more := c.caps.Min(); more; most, count, more = c.caps.After(most) {
			n += count
		}
		total.Add(total, x.Mul(c.weight, x.SetInt64(int64(n))))
		o := open{Rat: c.weight, caps: c.caps}
		o.most, o.count, o.more = c.caps.Min()
		opens = append(opens, o)
	}
	for again := true; again; {
		again = false
		for i := range opens {
			o := &opens[i]
			for ; o.more && total.Sign() > 0; o.most, o.count, o.more = o.caps.After(o.most) {
				share := new(big.Rat).Mul(rest, o.Rat)
				if x.Mul(total, x.SetInt64(int64(o.most))).Cmp(share) >= 0 {
					break
				}
				count := big.NewRat(int64(o.count), 1)
				rest.Sub(rest, x.Mul(count, x.SetInt64(int64(o.most))))
				total.Sub(total, x.Mul(count, o.Rat))
				again = true
			}
		}
	}
	if total.Sign() == 0 {
		return nil, false
	}
	return rest.Quo(rest, total), true
}

// share is how many engines one session of a band gets: raw, or all it can
// use where that is less. The ideal is that, rounded up.
type share struct {
	raw     *big.Rat
	bounded bool
	ceiling int
}

func newShare(raw *big.Rat, bounded bool) share {
	s := share{raw: raw, bounded: bounded}
	if bounded {
		s.ceiling = ceil(raw)
	}
	return s
}

// rawOf and idealOf are the shares of a session that can use so many engines.
func (s share) rawOf(most int) *big.Rat {
	r := new(big.Rat).SetInt64(int64(most))
	if s.bounded && s.raw.Cmp(r) < 0 {
		return s.raw
	}
	return r
}

func (s share) idealOf(most int) int {
	if s.bounded {
		return min(most, s.ceiling)
	}
	return most
}

// shares divides engines over the levels by weight: each session counts with
// the weight of its level, or, aggregated, the sessions of a level share it.
func shares(engines int, weights []weight, caps []caps, aggregated bool) []share {
	out := make([]share, len(weights))
	all := new(big.Rat).SetInt64(int64(engines))
	claims := make([]claim, len(weights))
	for i, w := range weights {
		claims[i] = claim{w.Rat, caps[i]}
		if aggregated {
			claims[i].caps = whole(caps[i])
		}
	}
	level, bounded := fill(all, claims)
	one := big.NewRat(1, 1)
	for i, w := range weights {
		switch {
		case w.Sign() == 0:
			out[i] = newShare(new(big.Rat), true)
			continue
		case !bounded:
			continue
		}
		out[i] = newShare(new(big.Rat).Mul(level, w.Rat), true)
		if aggregated {
			most := 0
			if claims[i].caps.Len() > 0 {
				most, _, _ = claims[i].caps.Min()
			}
			out[i] = newShare(fill(out[i].rawOf(most), []claim{{one, caps[i]}}))
		}
	}
	return out
}

// whole are the caps of the sessions of a level as those of one.
func whole(each caps) caps {
	sum := 0
	each.Scan(func(most, count int) bool { sum += most * count; return true })
	out := ordered.NewMap[int, int]()
	if sum > 0 {
		out.Set(sum, 1)
	}
	return out
}

func ceil(x *big.Rat) int {
	q, m := new(big.Int).DivMod(x.Num(), x.Denom(), new(big.Int))
	if m.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return int(q.Int64())
}

func floor(x *big.Rat) int { return int(new(big.Int).Div(x.Num(), x.Denom()).Int64()) }
