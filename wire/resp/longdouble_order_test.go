package resp

import (
	"cmp"
	"testing"
)

func TestLongDoubleOrder(t *testing.T) {
	sorted := []string{
		"-inf", "-1e4932", "-2", "-1.5", "-1", "-1e-4940", "0", "1e-4950", "1e-4940", "0.1", "1",
		"1.0000000000000000001", "2", "18446744073709551615", "18446744073709551616", "1e4932", "inf",
	}
	for i, a := range sorted {
		for j, b := range sorted {
			v, okV := ParseLongDouble([]byte(a))
			u, okU := ParseLongDouble([]byte(b))
			if !okV || !okU {
				t.Fatalf("%s or %s is no number", a, b)
			}
			if want, got := cmp.Compare(i, j), v.Compare(u); want != got {
				t.Errorf("%s to %s: want %d, got %d", a, b, want, got)
			}
			if want, got := -v.Compare(u), v.Neg().Compare(u.Neg()); want != got {
				t.Errorf("-%s to -%s: want %d, got %d", a, b, want, got)
			}
		}
	}
	if got := (LongDouble{}).Compare(LongDouble{}.Neg()); got != 0 {
		t.Errorf("0 to -0: want 0, got %d", got)
	}
	if got := MaxLongDouble.Add(MaxLongDouble); !got.IsInf() {
		t.Errorf("twice the largest: want infinity, got %v", got)
	}
}
