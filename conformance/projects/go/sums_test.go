package sums

import "testing"

func TestSumAddsUp(t *testing.T) {
	if got := Sum([]int{1, 2, 3}); got != 6 {
		t.Fatalf("got %d, want 6", got)
	}
}

func TestSumOfNone(t *testing.T) {
	if got := Sum(nil); got != 0 {
		t.Fatalf("got %d, want 0", got)
	}
}

func TestLargest(t *testing.T) {
	if got := Largest([]int{1, 3, 2}); got != 3 {
		t.Fatalf("got %d, want 3", got)
	}
}
