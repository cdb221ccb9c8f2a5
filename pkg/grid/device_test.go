package grid

import (
	"fmt"
	"testing"
)

func TestParseDevices(t *testing.T) {
	for _, c := range []struct{ text, is string }{
		{"/dev/nvidia0:rw;/dev/nvidiactl:r", "[{/dev/nvidia0 rw } {/dev/nvidiactl r }] <nil>"},
		{"/dev/nvidia0", "[{/dev/nvidia0 r }] <nil>"},
		{"/dev/loop7:mw", "[{/dev/loop7 wm }] <nil>"},
		{"/dev/dri/by-path/pci-0000:07:00.0-render", "[{/dev/dri/by-path/pci-0000:07:00.0-render r }] <nil>"},
		{"/dev/dri/by-path/pci-0000:07:00.0-render:rw", "[{/dev/dri/by-path/pci-0000:07:00.0-render rw }] <nil>"},
		{"/dev/nvidia0:rx", `[] mode "rx" of "/dev/nvidia0" is not of the letters r, w and m`},
		{"/dev/nvidia0:RW", `[] mode "RW" of "/dev/nvidia0" is not of the letters r, w and m`},
		{"/dev/nvidia0:", `[] "/dev/nvidia0" has no mode after the colon`},
		{"nvidia0:rw", `[] "nvidia0" is no path of a device file`},
		{"/dev/:r", `[] "/dev/" is no path of a device file`},
		{"/dev/nvidia0;", `[] "" is no path of a device file`},
		{"", `[] "" is no path of a device file`},
	} {
		devices, err := ParseDevices(c.text)
		if is := fmt.Sprint(devices, err); is != c.is {
			t.Errorf("%q: %s, not %s", c.text, is, c.is)
		}
	}
}

func TestJoinDevices(t *testing.T) {
	is := fmt.Sprint(JoinDevices([]Device{{"/dev/a", DeviceRead, "gpu"}, {"/dev/b", 0, ""}, {"/dev/a", DeviceWrite, "gpu"},
		{"/dev/b", DeviceMake, "port"}}))
	if want := "[{/dev/a rw gpu} {/dev/b m port}]"; is != want {
		t.Errorf("%s, not %s", is, want)
	}
}
