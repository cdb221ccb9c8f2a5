package shepherd

import (
	"fmt"
	"os"
	"slices"
	"syscall"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/pkg/grid"
)

// Device files that belong to other jobs are closed to an attempt by a BPF program at its control group. The kernel
// runs it whenever a process of the group opens or makes a device file, by whatever name, and opening fails with EPERM.
// The program stays until the group is removed, whether or not the shepherd lives.

// deviceNumber is what the kernel knows a device file by.
type deviceNumber struct {
	block        bool
	major, minor uint32
}

// deviceRule is what a group may do with a device.
type deviceRule struct {
	deviceNumber
	access grid.Access
}

// deviceRules looks up devices, whose numbers may be others than at the last boot. What is no device file now has no
// number, and no rule. Two names of one device are one, with the access of both.
func deviceRules(devices []grid.Device) (rules []deviceRule) {
	for _, d := range devices {
		is, ok := statDevice(d.Path)
		if !ok {
			continue
		}
		if i := slices.IndexFunc(rules, func(r deviceRule) bool { return r.deviceNumber == is }); i >= 0 {
			rules[i].access |= d.Access
		} else {
			rules = append(rules, deviceRule{is, d.Access})
		}
	}
	return rules
}

func statDevice(path string) (d deviceNumber, ok bool) {
	var s unix.Stat_t
	if unix.Stat(path, &s) != nil {
		return d, false
	}
	kind := s.Mode & unix.S_IFMT
	return deviceNumber{kind == unix.S_IFBLK, unix.Major(s.Rdev), unix.Minor(s.Rdev)}, kind == unix.S_IFBLK ||
		kind == unix.S_IFCHR
}

// Kinds of device and of access in bpf_cgroup_dev_ctx (linux/bpf.h): the lower and the upper half of its first word.
const (
	bpfBlock = 1
	bpfChar  = 2

	bpfMake  = 1
	bpfRead  = 2
	bpfWrite = 4
)

// The words of bpf_cgroup_dev_ctx.
const (
	ctxAccess = 4 * iota
	ctxMajor
	ctxMinor
)

// bpfAccess returns access as the kernel has it.
func bpfAccess(a grid.Access) (bits int32) {
	if a&grid.DeviceRead != 0 {
		bits |= bpfRead
	}
	if a&grid.DeviceWrite != 0 {
		bits |= bpfWrite
	}
	if a&grid.DeviceMake != 0 {
		bits |= bpfMake
	}
	return bits
}

// deviceProgram allows everything but what the rules deny: access to one of their devices that is not all in the rule.
func deviceProgram(rules []deviceRule) asm.Instructions {
	const kind, access, major, minor, ctx = asm.R2, asm.R3, asm.R4, asm.R5, asm.R1
	p := asm.Instructions{
		asm.LoadMem(access, ctx, ctxAccess, asm.Word), asm.Mov.Reg(kind, access), asm.And.Imm(kind, 0xffff),
		asm.RSh.Imm(access, 16),
		asm.LoadMem(major, ctx, ctxMajor, asm.Word), asm.LoadMem(minor, ctx, ctxMinor, asm.Word),
	}
	for i, r := range rules {
		of, next, end := int32(bpfChar), fmt.Sprint("rule", i+1), fmt.Sprint("end", i)
		if r.block {
			of = bpfBlock
		}
		p = append(p,
			asm.JNE.Imm(kind, of, next).WithSymbol(fmt.Sprint("rule", i)), asm.JNE.Imm(major, int32(r.major), next),
			asm.JNE.Imm(minor, int32(r.minor), next),
			asm.And.Imm(access, ^bpfAccess(r.access)),
			asm.Mov.Imm(asm.R0, 1), asm.JEq.Imm(access, 0, end), asm.Mov.Imm(asm.R0, 0), asm.Return().WithSymbol(end),
		)
	}
	return append(p, asm.Mov.Imm(asm.R0, 1).WithSymbol(fmt.Sprint("rule", len(rules))), asm.Return())
}

// attachDeviceRules makes the rules hold in a control group, before its first process is there.
func attachDeviceRules(group string, rules []deviceRule) error {
	return withDeviceProgram(group, rules, func(link.RawAttachProgramOptions) error { return nil })
}

// checkDeviceRules returns why rules cannot be made to hold in control groups below one.
func checkDeviceRules(group string) error {
	return withDeviceProgram(group, nil, func(to link.RawAttachProgramOptions) error {
		return link.RawDetachProgram(link.RawDetachProgramOptions(to))
	})
}

// withDeviceProgram attaches a program to a group and calls then.
func withDeviceProgram(group string, rules []deviceRule, then func(link.RawAttachProgramOptions) error) error {
	fd, err := syscall.Open(group, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: group, Err: err}
	}
	defer syscall.Close(fd)
	p,
		err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "quill_devices", Type: ebpf.CGroupDevice,
		Instructions: deviceProgram(rules), License: "Apache-2.0"})
	if err != nil {
		return err
	}
	defer p.Close()
	// Programs of the groups around it, of systemd or a container, go on to hold.
	to := link.RawAttachProgramOptions{Target: fd, Program: p, Attach: ebpf.AttachCGroupDevice,
		Flags: unix.BPF_F_ALLOW_MULTI}
	if err := link.RawAttachProgram(to); err != nil {
		return err
	}
	return then(to)
}
