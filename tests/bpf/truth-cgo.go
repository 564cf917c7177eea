// SPDX-License-Identifier: GPL-3.0-or-later

// Go that calls C that calls Go, several times over; and C on a thread of its own that calls Go.
package main

/*
#cgo CFLAGS: -O2 -g -fomit-frame-pointer -D_GNU_SOURCE
#include "truth-list.h"

#include <pthread.h>

extern unsigned call_go (unsigned depth);
extern unsigned call_go_from_thread (unsigned depth);

static volatile unsigned spun;

static KEEP void
listed1_leaf (void)
{
  TRUTH_ENTER (1);
  for (unsigned i = 0; i < 400; i++)
    spun = spun * 1664525 + i;
  LEAVE ();
}

static KEEP unsigned
listed2_inner (unsigned depth)
{
  unsigned n;

  TRUTH_ENTER (2);
  listed1_leaf ();
  n = call_go (depth);
  listed1_leaf ();
  LEAVE ();
  return n + 1;
}

static KEEP unsigned
listed3_outer (unsigned depth)
{
  unsigned n;

  TRUTH_ENTER (3);
  n = listed2_inner (depth);
  LEAVE ();
  return n + 1;
}

static KEEP void *
listed4_thread (void *data)
{
  begin_list ();
  TRUTH_ENTER (4);
  listed1_leaf ();
  *(unsigned *) data = call_go_from_thread (2);
  LEAVE ();
  end_list ();
  return NULL;
}

static void *
list_of_thread (void)
{
  return mine;
}

static void
begin_thread (void)
{
  begin_list ();
}

static unsigned
enter_c (unsigned depth)
{
  return listed3_outer (depth);
}

static unsigned
start_thread (void)
{
  unsigned n = 0;
  pthread_t thread;

  if (pthread_create (&thread, NULL, listed4_thread, &n) == 0)
    pthread_join (thread, NULL);
  return n;
}
*/
import "C"

import (
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// truth.h has the layout.
type truth struct {
	n           uint32
	isUnsettled uint32
	id          [32000]uint16
}

var sink, isOver uint32

func (t *truth) enter(number uint16) {
	t.id[t.n] = number
	atomic.StoreUint32(&t.n, t.n+1)
}

func (t *truth) leave() {
	atomic.StoreUint32(&t.n, t.n-1)
}

//go:noinline
func listed5_burn(t *truth) {
	t.enter(5)
	for i := uint32(0); i < 400; i++ {
		sink += sink*7 + i
	}
	t.leave()
}

//go:noinline
func listed6_back(t *truth, depth uint32) uint32 {
	t.enter(6)
	listed5_burn(t)
	result := uint32(1)
	if depth > 0 {
		result += uint32(C.enter_c(C.uint(depth - 1)))
	}
	if depth == 2 {
		listed7_grow(t, 300)
	}
	listed5_burn(t)
	t.leave()
	return result
}

// The stack on which C has called is left for a larger one.
//go:noinline
func listed7_grow(t *truth, depth uint32) uint32 {
	var text [64]byte
	t.enter(7)
	text[depth%64] = byte(depth)
	result := uint32(text[(depth+1)%64])
	if depth == 0 {
		listed5_burn(t)
	} else {
		result += listed7_grow(t, depth-1)
	}
	t.leave()
	return result
}

//export call_go
func call_go(depth C.uint) C.uint {
	return C.uint(listed6_back((*truth)(unsafe.Pointer(C.list_of_thread())), uint32(depth)))
}

//export call_go_from_thread
func call_go_from_thread(depth C.uint) C.uint {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return call_go(depth)
}

//go:noinline
func listed8_worker(done chan bool) {
	runtime.LockOSThread()
	C.begin_thread()
	t := (*truth)(unsafe.Pointer(C.list_of_thread()))
	t.enter(8)
	for round := uint32(1); atomic.LoadUint32(&isOver) == 0; round++ {
		sink += listed6_back(t, round%6)
		if round%16 == 0 {
			sink += uint32(C.start_thread())
		}
	}
	t.leave()
	done <- true
}

//export run_truth
func run_truth() {
	done := make(chan bool)
	go listed8_worker(done)
	os.Stdout.WriteString("ready\n")
	os.Stdin.Read(make([]byte, 1))
	atomic.StoreUint32(&isOver, 1)
	<-done
}

func main() {
	run_truth()
}
