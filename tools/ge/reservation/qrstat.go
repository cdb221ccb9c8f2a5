package reservation

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
	"github.com/quill-grid/quill/pkg/view"
)

// RunQrstat is qrstat(1): it lists advance reservations, or shows some in full, as text, XML or JSON. It returns the
// exit status.
func RunQrstat(env opt.Env, args []string) int {
	return opt.RunApp(env, opt.App(env, listCommand(), listReservations), args)
}

// listQuery is the command line of qrstat.
type listQuery struct {
	ids     []uint32   // -ar
	users   grid.Names // -u
	explain bool
	format  switches.Format
}

func formatOf(w *listQuery) *switches.Format { return &w.format }

func listCommand() *switches.Command[listQuery] {
	return &switches.Command[listQuery]{
		Name: "qrstat", Usage: "[options]", Indent: 3, Column: 44,
		Defaults: "sge_qrstat",
		Begin:    func(w *listQuery) { w.format.Begin() },
		Unknown: func(word string) error {
			if !strings.HasPrefix(word, "-") {
				return &switches.Error{Text: "error: too many options", Help: true}
			}
			return &switches.Error{Text: "error: invalid option argument \"" + word + "\"", Help: true}
		},
		Switches: []switches.Switch[listQuery]{
			{Name: "ar", Args: "ar_id,...", Help: "show these advance reservations in full", Take: switches.One,
				Set: (*listQuery).chosen},
			{Name: "explain", Help: "show reason for error state",
				Set: switches.Flag(func(w *listQuery) *bool { return &w.explain })},
			switches.Fmt(formatOf),
			{Name: "help", Help: "print this help"},
			{Name: "u", Args: "user_list", Help: "all advance reservations of users specified in list", Take: switches.One,
				Set: func(w *listQuery, words []string) error { w.users = switches.Names(words[0]); return nil }},
			switches.XML(formatOf),
		},
		Legend: "\nuser_list               user|pattern|$user[,user|pattern|$user,...]\n",
	}
}

func (w *listQuery) chosen(words []string) error {
	for _, text := range switches.Names(words[0]) {
		id, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return switches.Errorf("error: ERROR! invalid id, must be an unsigned integer")
		}
		w.ids = append(w.ids, uint32(id))
	}
	return nil
}

func listReservations(ctx context.Context, env opt.Env, w *listQuery) int {
	kinds := []grid.Kind{grid.KindAR}
	if w.format.JSON() {
		kinds = append(kinds, grid.KindCentry) // for the types of requests
	}
	st, err := env.Fetch(ctx, gdi.Get{Kinds: kinds})
	if err != nil {
		return env.Report(err, 1)
	}
	v := view.Of(st)
	p := listPrinter{env.Stdout, env.Now().Location()}
	if len(w.ids) > 0 {
		return w.inFull(env, p, v)
	}
	list := v.Reservations(env.Owners(w.users))
	switch {
	case w.format.JSON():
		return env.Document(document.ReservationsOf(v, list, nil, w.explain, false))
	case w.format.XML():
		p.xml(list, nil, w.explain, false)
	default:
		p.list(list, w.explain)
	}
	return 0
}

// inFull is -ar.
func (w *listQuery) inFull(env opt.Env, p listPrinter, v *view.View) int {
	found, unknown := v.ReservationsOf(w.ids)
	switch {
	case w.format.JSON():
		var missing []error
		for _, id := range unknown {
			refused := gdi.Deny(gdi.StatusUnknown, fmt.Sprintf("advance reservation %d does not exist", id))
			missing = append(missing, &gdi.Refusal{Answer: refused.On(gdi.Subject{AR: id})})
		}
		return env.Document(document.ReservationsOf(v, found, unknown, true, true), missing...)
	case w.format.XML():
		p.xml(found, unknown, true, true)
	default:
		p.full(found)
		if len(unknown) > 0 {
			fmt.Fprintln(env.Stdout, "Following advance reservations do not exist:")
			for _, id := range unknown {
				fmt.Fprintln(env.Stdout, id)
			}
		}
	}
	return min(len(unknown), 1)
}
