// SPDX-License-Identifier: GPL-2.0-or-later
// A Rust program whose stacks are known: unwind-rust SCENARIO MILLISECONDS, by the clock.
use std::arch::asm;
use std::collections::BTreeMap;
use std::env;
use std::panic;
use std::process;
use std::thread;
use std::time::Instant;

// The optimizer may not look behind it.
#[inline(always)]
fn keep<T>(v: &T) {
    unsafe { asm!("/* {0} */", in(reg) v as *const T, options(nostack)) }
}

#[inline(never)]
fn work() {
    for i in 0..50000u64 {
        keep(&i);
    }
}

#[inline(never)]
fn spin(ms: u64) -> u64 {
    let start = Instant::now();
    let mut n = 0;
    while start.elapsed().as_millis() < ms as u128 {
        work();
        n += 1;
    }
    n
}

trait Number: Copy {
    type Other: Number;
    fn other(self) -> Self::Other;
    fn ms(self) -> u64;
}
impl Number for u64 {
    type Other = (u64, u8);
    fn other(self) -> (u64, u8) {
        (self, 1)
    }
    fn ms(self) -> u64 {
        self
    }
}
impl Number for (u64, u8) {
    type Other = u64;
    fn other(self) -> u64 {
        self.0
    }
    fn ms(self) -> u64 {
        self.0
    }
}

// Two instances that call each other.
#[inline(never)]
fn recurse<T: Number>(n: u32, v: T) -> u64 {
    let mut room = [n; 10];
    keep(&room);
    room[0] = if n == 0 { spin(v.ms()) as u32 } else { recurse(n - 1, v.other()) as u32 };
    keep(&room);
    room[0] as u64
}

#[inline(never)]
fn call(f: &dyn Fn(u64) -> u64, v: u64) -> u64 {
    let r = f(v);
    keep(&r);
    r
}

#[inline(never)]
fn closures(ms: u64) -> u64 {
    let mut offset = 1;
    keep(&offset);
    offset += call(&|v| call(&|w| spin(w) + offset, v) + 1, ms);
    offset
}

#[inline(never)]
fn sorts(ms: u64) -> u64 {
    let mut v: Vec<u64> = (0..200).map(|i| i * 37 % 101).collect();
    let mut spun = false;
    v.sort_by(|a, b| {
        if !spun {
            spun = true;
            keep(&spin(ms));
        }
        a.cmp(b)
    });
    v[3]
}

#[inline(never)]
fn iterates(ms: u64) -> u64 {
    let map: BTreeMap<u64, u64> = (0..100).map(|i| (i, i * 3)).collect();
    let mut n = 0;
    map.iter().filter(|(k, _)| **k == 50).for_each(|(_, v)| n += spin(ms) + v);
    keep(&n);
    n
}

#[inline(never)]
fn in_threads(ms: u64) -> u64 {
    let threads: Vec<_> = (0..2).map(|_| thread::spawn(move || recurse(3, ms))).collect();
    threads.into_iter().map(|t| t.join().unwrap()).sum()
}

struct Guard(u64);
impl Drop for Guard {
    #[inline(never)]
    fn drop(&mut self) {
        keep(&spin(self.0));
    }
}

#[inline(never)]
fn fails(n: u32, ms: u64) -> u64 {
    let guard = Guard(if n == 1 { ms } else { 0 });
    keep(&guard);
    if n == 0 {
        panic!("meant");
    }
    let r = fails(n - 1, ms);
    keep(&r);
    r
}

// In the hook, that panic!() calls; then in a destructor, that the unwinder calls.
#[inline(never)]
fn panics(ms: u64) -> u64 {
    panic::set_hook(Box::new(move |_| keep(&spin(ms))));
    let r = panic::catch_unwind(|| fails(4, ms)).is_err() as u64;
    keep(&r);
    r
}

// What std does of itself: formatting, hashing, allocation.
#[inline(never)]
fn formats(ms: u64) -> u64 {
    let start = Instant::now();
    let mut all = 0;
    while start.elapsed().as_millis() < ms as u128 {
        let mut map = std::collections::HashMap::new();
        for i in 0..200u64 {
            map.insert(format!("{:x}-{:?}", i, (i as f64) / 3.0), vec![i; 20]);
        }
        all += map.values().map(|v| v.len() as u64).sum::<u64>();
    }
    all
}

fn main() {
    let args: Vec<String> = env::args().collect();
    let ms = args[2].parse().unwrap();
    let r = match args[1].as_str() {
        "recursion" => recurse(20, ms),
        "closures" => closures(ms),
        "sort" => sorts(ms),
        "iterators" => iterates(ms),
        "threads" => in_threads(ms),
        "panic" => panics(ms),
        "std" => formats(ms),
        _ => process::exit(2),
    };
    keep(&r);
    process::exit(0);
}
