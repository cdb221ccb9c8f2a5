package outcome

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// TestBrowserAxe: axe-core has no serious finding on a report, light or dark, wide or narrow; the page is not wider
// than its window, and one of the two drawings of a picture is shown.
func TestBrowserAxe(t *testing.T) {
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium on the PATH: reports are not tested in a browser (Debian: apt-get install chromium)")
	}
	packed, err := os.Open("../console/testdata/axe.min.js.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	axe, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "report.html")
	if err := (Files{Report: path}).Write(compare(example("one"), example("two")),
		"quill sim --report report.html"); err != nil {
		t.Fatal(err)
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for scheme, width := range map[string]int64{"light": 1280, "dark": 390} {
		var found []string
		over, shown := 0, ""
		wait := func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
		err := chromedp.Run(ctx, emulation.SetDeviceMetricsOverride(width, 900, 1, width < 500),
			emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
			chromedp.Navigate("file://"+path), chromedp.Evaluate(string(axe), nil),
			chromedp.Evaluate(
				`axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.filter((v) => ["serious", "critical"].includes(v.impact)).map((v) =>
				v.id + ": " + v.nodes.map((n) => n.target + " " + (n.any[0] || n.all[0] || {}).message).join("; ")))`, &found, wait),
			chromedp.Evaluate(`document.documentElement.scrollWidth - innerWidth`, &over),
			chromedp.Evaluate(
				`[...document.querySelectorAll("svg")].filter((s) => s.getBoundingClientRect().width > 0).map((s) => s.getAttribute("class")).join()`, &shown))
		if err != nil {
			t.Fatal(err)
		}
		if kind := map[string]string{"light": "wide", "dark": "narrow"}[scheme]; len(found) > 0 || over > 0 ||
			shown != fmt.Sprintf("chart %s,chart %[1]s", kind) {
			t.Errorf("%s at %d pixels: %q, %d too wide, shown %s", scheme, width, found, over, shown)
		}
	}
}
