package codec_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/grid"
)

// FuzzDecodeList: garbage is an error, never a panic; what is read well is
// written and read the same.
func FuzzDecodeList(f *testing.F) {
	f.Add(codec.AppendList(nil, allKinds()))
	f.Add([]byte{0x94, 1, 2, 0x90, 0xdd, 0xff, 0xff, 0xff, 0xff})
	f.Add(bytes.Repeat([]byte{0x91}, 4096))
	shared := new(codec.Decoder)
	f.Fuzz(func(t *testing.T, b []byte) {
		l, n, err := codec.DecodeList(b)
		var bad *codec.Unreadable
		if err != nil && !errors.As(err, &bad) {
			return
		}
		if n <= 0 || n > len(b) {
			t.Fatalf("took %d of %d bytes", n, len(b))
		}
		l2, _, err2 := shared.List(b)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("alone: %v; shared: %v", err, err2)
		}
		once := codec.AppendList(nil, l)
		if !bytes.Equal(once, codec.AppendList(nil, l2)) {
			t.Fatal("a shared decoder reads differently")
		}
		again, _, err := codec.DecodeList(once)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(once, codec.AppendList(nil, again)) {
			t.Fatal("written differently the second time")
		}
	})
}

// FuzzDecode feeds garbage to every reader.
func FuzzDecode(f *testing.F) {
	for _, m := range golden() {
		f.Add(m.bytes)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, s := range grid.Kinds {
			if o, err := codec.DecodeObject(s.Kind, b); err == nil {
				codec.AppendObject(nil, o)
			}
		}
		if r, err := new(codec.Decoder).Request(b); err == nil {
			codec.AppendRequest(nil, r)
		}
		if r, err := codec.DecodeReply(b); err == nil {
			codec.AppendReply(nil, r)
		}
		if l, err := codec.DecodeOrders(b); err == nil {
			codec.AppendOrders(nil, l)
		}
		if r, err := codec.DecodeResult(b); err == nil {
			codec.AppendResult(nil, r)
		}
		if r, err := codec.DecodeReport(b); err == nil {
			codec.AppendReport(nil, r)
		}
		if r, err := codec.DecodeReceipt(b); err == nil {
			codec.AppendReceipt(nil, r)
		}
		if r, err := codec.DecodeRead(b); err == nil {
			codec.AppendRead(nil, r)
		}
		if p, err := codec.DecodePiece(b); err == nil {
			codec.AppendPiece(nil, p)
		}
		if c, err := codec.DecodeCommand(b); err == nil {
			codec.AppendCommand(nil, c)
		}
	})
}
