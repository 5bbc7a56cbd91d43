// SPDX-License-Identifier: GPL-2.0-or-later
// A Go program whose stacks are known: unwind-go SCENARIO MILLISECONDS.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"sync"
	"time"
)

var sink uint64
var length time.Duration

//go:noinline
func work() {
	for i := uint64(0); i < 50000; i++ {
		sink += i
	}
}

//go:noinline
func spin() {
	for start := time.Now(); time.Since(start) < length; {
		work()
	}
	sink++
}

//go:noinline
func recurse(n int) int {
	var room [10]int
	room[n%10] = n
	if n == 0 {
		spin()
	} else {
		room[1] = recurse(n - 1)
	}
	return room[n%10] + 1
}

type shape interface{ visit(n int) int }
type circle struct{ size int }
type square struct{ inner shape }

//go:noinline
func (c *circle) visit(n int) int {
	spin()
	return c.size + n
}

//go:noinline
func (s square) visit(n int) int {
	return s.inner.visit(n+1) + 1
}

//go:noinline
func interfaces() int {
	return square{square{&circle{3}}}.visit(1) + 1
}

//go:noinline
func call(f func(int) int, n int) int {
	return f(n) + 1
}

//go:noinline
func closures() int {
	offset := 3
	return call(func(n int) int {
		return call(func(m int) int { spin(); return m + offset }, n) + offset
	}, 1) + 1
}

//go:noinline
func sorts() int {
	v := make([]int, 100)
	for i := range v {
		v[i] = i * 37 % 101
	}
	once := false
	sort.Slice(v, func(a, b int) bool {
		if !once {
			once = true
			spin()
		}
		return v[a] < v[b]
	})
	return v[3]
}

//go:noinline
func goroutines() int {
	var group sync.WaitGroup
	for i := 0; i < 3; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			sink += uint64(recurse(3))
		}()
	}
	group.Wait()
	return 0
}

//go:noinline
func fails(n int) int {
	if n == 0 {
		panic("meant")
	}
	return fails(n-1) + 1
}

// The deferred function runs on top of what panicked.
//go:noinline
func panics() (ret int) {
	defer func() {
		spin()
		ret = len(fmt.Sprint(recover()))
	}()
	return fails(4)
}

// The collector and the allocator change to the system's stack all the time.
//go:noinline
func allocates() int {
	var keep [100][]byte
	n := 0
	for start := time.Now(); time.Since(start) < length; n++ {
		keep[n%100] = make([]byte, 20000+n%1000)
		if n%50 == 0 {
			runtime.GC()
		}
	}
	return n
}

//go:noinline
func grow(n int) int {
	var room [100]int
	room[n%100] = n
	if n == 0 {
		return 0
	}
	return grow(n-1) + room[n%100]
}

// Each goroutine's stack is moved to a larger one several times.
//go:noinline
func grows() int {
	n := 0
	for start := time.Now(); time.Since(start) < length; {
		done := make(chan int)
		go func() { done <- grow(1000) }()
		n += <-done
	}
	return n
}

// System calls.
//go:noinline
func calls() int {
	n := 0
	for start := time.Now(); time.Since(start) < length; n++ {
		if f, err := os.Open("/dev/null"); err == nil {
			f.Close()
		}
	}
	return n
}

func main() {
	ms, _ := strconv.Atoi(os.Args[2])
	length = time.Duration(ms) * time.Millisecond
	scenarios := map[string]func() int{
		"recursion": func() int { return recurse(20) }, "interfaces": interfaces, "closures": closures,
		"sort": sorts, "goroutines": goroutines, "panic": panics, "allocates": allocates, "grows": grows, "calls": calls,
	}
	n := scenarios[os.Args[1]]()
	sink += uint64(n)
	os.Exit(0)
}
