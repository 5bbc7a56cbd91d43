// SPDX-License-Identifier: GPL-2.0-or-later
// Go that calls C, which runs on the thread's stack, and C that calls Go again, which goes back to the goroutine's.
package main

/*
static volatile long sink;
__attribute__((noinline)) static void c_work(void) { for (int i = 0; i < 100000; i++) sink += i; sink++; }
__attribute__((noinline)) static void c_calls(void) { c_work(); sink++; }
extern void goWork(void);
__attribute__((noinline)) static void c_back(void) { goWork(); sink++; }
*/
import "C"
import (
	"os"
	"strconv"
	"time"
)

var sink uint64

//go:noinline
func work() {
	for i := uint64(0); i < 100000; i++ {
		sink = sink*31 + i
	}
}

//export goWork
func goWork() {
	work()
	sink++
}

//go:noinline
func calls() {
	C.c_calls()
	sink++
}

//go:noinline
func back() {
	C.c_back()
	sink++
}

func main() {
	ms, _ := strconv.Atoi(os.Args[2])
	for end := time.Now().Add(time.Duration(ms) * time.Millisecond); time.Now().Before(end); {
		if os.Args[1] == "calls" {
			calls()
		} else {
			back()
		}
	}
}
