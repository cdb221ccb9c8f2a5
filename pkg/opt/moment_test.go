package opt_test

import (
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
)

func TestParseMoment(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(text string) gdi.Place {
		u, err := time.Parse("2006-01-02 15:04:05.999", text)
		if err != nil {
			t.Fatal(err)
		}
		return gdi.Place{At: grid.TimeOf(u)}
	}
	for text, want := range map[string]gdi.Place{
		"4711":                        {Seq: 4711},
		"11:59":                       at("2026-03-01 11:59:00"),
		"11:59:03":                    at("2026-03-01 11:59:03"),
		"11:59:03.250":                at("2026-03-01 11:59:03.25"),
		"12:00":                       at("2026-03-01 12:00:00"),
		"12:00:01":                    at("2026-02-28 12:00:01"),
		"2025-12-24":                  at("2025-12-24 00:00:00"),
		"2025-12-24T18:30":            at("2025-12-24 18:30:00"),
		"12/24/2025 18:30:05":         at("2025-12-24 18:30:05"),
		"2025-12-24T18:30:05Z":        at("2025-12-24 18:30:05"),
		"2025-12-24T18:30:05.5+01:00": at("2025-12-24 17:30:05.5"),
		"-90s":                        at("2026-03-01 11:58:30"),
		"-2d":                         at("2026-02-27 12:00:00"),
		"-1d12h":                      at("2026-02-28 00:00:00"),
		"now":                         at("2026-03-01 12:00:00"),
	} {
		if got, err := opt.ParseMoment(text, now); err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "soon", "25:00", "-", "-3", "2026-02-30", "1.5"} {
		if got, err := opt.ParseMoment(text, now); err == nil {
			t.Errorf("%s: got %+v, want an error", text, got)
		}
	}
}
