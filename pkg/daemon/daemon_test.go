package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestLog(t *testing.T) {
	var out bytes.Buffer
	log, err := Log("qmaster", LogOptions{Level: "warn", JSON: true, To: &out})
	if err != nil {
		t.Fatal(err)
	}
	log.Info("quiet")
	log.Warn("loud", "job", 7)
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("%s: %v", out.String(), err)
	}
	if line["@message"] != "loud" || line["@module"] != "qmaster" || line["job"] != 7.0 {
		t.Errorf("%v", line)
	}
	if _, err := Log("qmaster", LogOptions{Level: "chatty"}); err == nil {
		t.Error("unknown level was taken")
	}
}

func TestSignalStops(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		pidFile := filepath.Join(t.TempDir(), "pid")
		err := Run(context.Background(), Options{Name: "x", PidFile: pidFile}, func(ctx context.Context) error {
			text, err := os.ReadFile(pidFile)
			if err != nil || strings.TrimSpace(string(text)) != strconv.Itoa(os.Getpid()) {
				t.Errorf("pid file: %q %v", text, err)
			}
			if err := syscall.Kill(os.Getpid(), sig); err != nil {
				return err
			}
			<-ctx.Done()
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(pidFile); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("pid file is left: %v", err)
		}
	}
}

func TestContextStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	broken := errors.New("broken")
	err := Run(ctx, Options{Name: "execd"}, func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return broken
	})
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "execd: ") {
		t.Error(err)
	}
}

func TestSecondDaemon(t *testing.T) {
	o := Options{Name: "execd", PidFile: filepath.Join(t.TempDir(), "pid")}
	if err := os.WriteFile(o.PidFile, []byte("99999 of a crash"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Run(context.Background(), o, func(ctx context.Context) error {
		return Run(ctx, o, func(context.Context) error { t.Error("ran twice"); return nil })
	}); !errors.Is(err, ErrRunning) {
		t.Error(err)
	} else {
		t.Log(err)
	}
}
