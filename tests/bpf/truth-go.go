// SPDX-License-Identifier: GPL-3.0-or-later

// Go: stacks that grow and move, the collector, channels, maps, interfaces, panics that are caught.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	base  = 0x100000000000
	size  = 0x10000
	lists = 1 << 22
)

// truth.h has the layout.
type truth struct {
	n           uint32
	isUnsettled uint32
	id          [32000]uint16
}

var sink, isOver uint32

// For a goroutine that keeps its thread.
func beginList() *truth {
	place := uintptr(base + (syscall.Gettid()&(lists-1))*size)
	// Private, anonymous, fixed, populated.
	at, _, _ := syscall.Syscall6(syscall.SYS_MMAP, place, size, 3, 0x8032, ^uintptr(0), 0)
	if at != place {
		panic("no list")
	}
	return *(**truth)(unsafe.Pointer(&at))
}

func (t *truth) enter(number uint16) {
	t.id[t.n] = number
	atomic.StoreUint32(&t.n, t.n+1)
}

func (t *truth) leave() {
	atomic.StoreUint32(&t.n, t.n-1)
}

//go:noinline
func listed1_leaf(t *truth, x uint32) uint32 {
	t.enter(1)
	for i := uint32(0); i < 60; i++ {
		sink += x*7 + i
	}
	t.leave()
	return sink
}

type shape interface {
	area(t *truth, x uint32) uint32
}

type square struct{ a uint32 }
type circle struct{ a, b uint32 }

//go:noinline
func listed2_square(t *truth, x uint32) uint32 {
	t.enter(2)
	result := listed1_leaf(t, x) * x
	t.leave()
	return result
}

//go:noinline
func listed3_circle(t *truth, x uint32) uint32 {
	t.enter(3)
	result := listed1_leaf(t, x) * 3
	t.leave()
	return result
}

func (s *square) area(t *truth, x uint32) uint32 { return listed2_square(t, x) + s.a }
func (c circle) area(t *truth, x uint32) uint32  { return listed3_circle(t, x) + c.a + c.b }

//go:noinline
func listed4_sumAreas(t *truth, shapes []shape) uint32 {
	t.enter(4)
	sum := uint32(0)
	for i, s := range shapes {
		sum += s.area(t, uint32(i))
	}
	t.leave()
	return sum
}

type numbers struct {
	t *truth
	n []uint32
}

func (n numbers) Len() int           { return len(n.n) }
func (n numbers) Swap(i, j int)      { n.n[i], n.n[j] = n.n[j], n.n[i] }
func (n numbers) Less(i, j int) bool { return listed5_less(n.t, n.n[i], n.n[j]) }

//go:noinline
func listed5_less(t *truth, a, b uint32) bool {
	t.enter(5)
	listed1_leaf(t, a)
	t.leave()
	return a < b
}

//go:noinline
func listed6_sort(t *truth, seed uint32) uint32 {
	t.enter(6)
	n := numbers{t, nil}
	names := make(map[string]uint32)
	for i := uint32(0); i < 24; i++ {
		n.n = append(n.n, (seed+i)*2654435761)
	}
	sort.Sort(n)
	for _, x := range n.n {
		names[fmt.Sprintf("number %d", x)] = x
	}
	result := uint32(len(names)) + n.n[0]
	t.leave()
	return result
}

//go:noinline
func listed7_recurse(t *truth, depth uint32) uint32 {
	var text [64]byte
	t.enter(7)
	text[depth%64] = byte(depth)
	result := uint32(text[(depth+1)%64])
	if depth == 0 {
		result += listed1_leaf(t, 1)
	} else {
		result += listed7_recurse(t, depth-1)
	}
	t.leave()
	return result
}

// On a stack that is new, and grows.
//go:noinline
func listed8_goroutine(done chan uint32) {
	runtime.LockOSThread()
	t := beginList()
	t.enter(8)
	result := listed7_recurse(t, 3000)
	t.leave()
	done <- result
}

//go:noinline
func listed9_channels(t *truth, x uint32) uint32 {
	t.enter(9)
	done := make(chan uint32)
	go listed8_goroutine(done)
	result := <-done
	listed1_leaf(t, x)
	t.leave()
	return result
}

//go:noinline
func listed10_panic(t *truth, depth uint32) uint32 {
	t.enter(10)
	defer t.leave()
	if depth == 0 {
		result := listed1_leaf(t, 1)
		// What is deferred runs on top of what panics.
		t.isUnsettled = 1
		panic(result)
	}
	return listed10_panic(t, depth-1) + 1
}

//go:noinline
func catch(t *truth, x uint32) (result uint32) {
	defer func() {
		if recover() != nil {
			result = x
		}
	}()
	return listed10_panic(t, x%6)
}

//go:noinline
func listed11_recover(t *truth, x uint32) uint32 {
	t.enter(11)
	result := catch(t, x)
	t.isUnsettled = 0
	result += listed1_leaf(t, x)
	t.leave()
	return result
}

//go:noinline
func listed12_allocate(t *truth, x uint32) uint32 {
	t.enter(12)
	var kept [][]byte
	for i := 0; i < 40; i++ {
		kept = append(kept, make([]byte, 1000+int(x%7)*4000))
	}
	result := uint32(len(kept)) + listed1_leaf(t, x)
	t.leave()
	return result
}

//go:noinline
func listed13_askKernel(t *truth) uint32 {
	t.enter(13)
	result := uint32(0)
	for i := 0; i < 50; i++ {
		result += uint32(time.Now().Nanosecond()) + uint32(syscall.Getppid())
	}
	t.leave()
	return result
}

//go:noinline
func listed14_round(t *truth, round uint32) uint32 {
	t.enter(14)
	shapes := []shape{&square{1}, circle{2, 3}, &square{4}, circle{5, 6}}
	result := listed4_sumAreas(t, shapes)
	result += listed6_sort(t, round)
	result += listed7_recurse(t, 40)
	result += listed11_recover(t, round)
	result += listed12_allocate(t, round)
	result += listed13_askKernel(t)
	if round%16 == 0 {
		result += listed9_channels(t, round)
		result += listed7_recurse(t, 5500)
	}
	if round%64 == 0 {
		runtime.GC()
	}
	t.leave()
	return result
}

//go:noinline
func listed15_worker(done chan bool) {
	runtime.LockOSThread()
	t := beginList()
	t.enter(15)
	for round := uint32(1); atomic.LoadUint32(&isOver) == 0; round++ {
		sink += listed14_round(t, round)
	}
	t.leave()
	done <- true
}

func main() {
	done := make(chan bool)
	go listed15_worker(done)
	os.Stdout.WriteString("ready\n")
	os.Stdin.Read(make([]byte, 1))
	atomic.StoreUint32(&isOver, 1)
	<-done
}
