# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs whose call graph is a tree, so that the right chain of every sample is known.

tree.py make LANGUAGE SEED: writes the source of such a program, and tree.json (function -> its only caller).
tree.py check PATTERN ROOT: reads `sonde script -F comm,ip,sym`, prints "samples whole right wrong cut" of the samples in the tree.
"""
import json
import random
import re
import sys

FUNCTIONS = 40

# Per language: the file, what stands first, a function (its number, statements), a call, three kinds of work, what stands last.
C_HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <time.h>
volatile long sink; jmp_buf out;
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
"""
C_WORK = [
    "for (int i = 0; i < {n}; i++) {{ a = a * 31 + i; sink = a; }}",
    "{{ int v[48]; for (int i = 0; i < 48; i++) v[i] = (a * i * 7919) & 1023; qsort(v, 48, 4, order); sink = v[3]; }}",
    "{{ char text[80]; snprintf(text, sizeof(text), \"%ld %f\", a, 1.5 * (b & 255)); sink = text[2]; }}",
    "{{ char *p = (char *)__builtin_alloca((a & 127) + {n}); memset(p, (int)a, (a & 127) + {n}); sink = p[b & 15]; }}",
    "{{ volatile char q[64] __attribute__((aligned(64))); for (int i = 0; i < {n}; i++) q[i & 63] = (char)i; sink = q[3]; }}",
    "if (setjmp(out) == 0) {{ sink++; if (a & 1) longjmp(out, 1); }}",
]
C_MAIN = """int main(int n, char **args) {
\tstruct timespec s, e; double t = atof(args[1]); long x = n;
\tclock_gettime(CLOCK_MONOTONIC, &s);
\tdo { x = f0(x, 3); clock_gettime(CLOCK_MONOTONIC, &e); }
\twhile ((e.tv_sec - s.tv_sec) + (e.tv_nsec - s.tv_nsec) * 1e-9 < t);
\treturn 0;
}"""
C_FUNCTION = "__attribute__((noinline)) static long f{i}(long a, long b)\n{{\n{body}\n\treturn (a + b + sink) ^ {i};\n}}"
CALL = "a += f{k}(a ^ {k}, b + {k});"

LANGUAGES = {
    "c": dict(file="t.c", head=C_HEAD, function=C_FUNCTION, call=CALL, work=C_WORK, main=C_MAIN),
    "c++": dict(
        file="t.cc", head="#include <map>\n#include <string>\n#include <stdexcept>\n" + C_HEAD,
        function=C_FUNCTION, call=CALL, main=C_MAIN,
        work=C_WORK[:5] + [
            "try {{ if (a & 1) throw std::runtime_error(\"x\"); sink++; }} catch (const std::exception &e) {{ sink += e.what()[0]; }}",
            "{{ std::map<int, int> m; for (int i = 0; i < {n}; i++) m[(int)(a * i) & 63] = i; sink += m.size(); }}",
            "{{ std::string s; for (int i = 0; i < {n}; i++) s += std::to_string(i); sink += s.size(); }}"]),
    "rust": dict(
        file="t.rs",
        head="use std::collections::HashMap; use std::time::Instant;\nstatic mut SINK: u64 = 0;\n"
             "#[inline(never)] fn keep(x: u64) -> u64 { unsafe { std::ptr::write_volatile(std::ptr::addr_of_mut!(SINK), x); "
             "std::ptr::read_volatile(std::ptr::addr_of!(SINK)) } }",
        function="#[inline(never)] fn f{i}(mut a: u64, mut b: u64) -> u64 {{\n{body}\n\tkeep(a.wrapping_add(b) ^ {i})\n}}",
        call="a = a.wrapping_add(f{k}(a ^ {k}, b.wrapping_add({k})));",
        work=["for i in 0..{n}u64 {{ a = keep(a.wrapping_mul(31).wrapping_add(i)); }} b ^= 1;",
              "{{ let mut v = vec![0u64; {n}]; for i in 0..{n} {{ v[i] = a.wrapping_mul(i as u64) % 1000; }} v.sort(); b ^= v[3]; }}",
              "{{ let s = format!(\"{{}} {{:?}}\", a, Some(b)); b = b.wrapping_add(s.len() as u64); }}",
              "{{ let mut h = HashMap::new(); for i in 0..{n}u64 {{ h.insert(i.wrapping_mul(a), i); }} b ^= h.len() as u64; }}"],
        main="fn main() { let t: f64 = std::env::args().nth(1).unwrap().parse().unwrap(); let s = Instant::now(); let mut x = 1;\n"
             "\twhile s.elapsed().as_secs_f64() < t { x = f0(x, 3); } keep(x); }"),
    "go": dict(
        file="t.go", head="package main\nimport (\"fmt\"; \"os\"; \"sort\"; \"strconv\"; \"time\")\nvar sink uint64",
        function="//go:noinline\nfunc f{i}(a, b uint64) uint64 {{\n{body}\n\tsink = b\n\treturn a + b\n}}", call="a += f{k}(a ^ {k}, b + {k})",
        work=["for i := uint64(0); i < {n}; i++ {{ a = a*31 + i; sink = a }}",
              "{{ v := make([]int, {n}); for i := range v {{ v[i] = int(a*uint64(i)) % 1000 }}; sort.Ints(v); b ^= uint64(v[3]) }}",
              "{{ s := fmt.Sprintf(\"%d %v\", a, []uint64{{b}}); b += uint64(len(s)) }}",
              "func() {{ defer func() {{ recover() }}(); if a&1 == 1 {{ panic(\"x\") }}; sink++ }}()"],
        main="var _ = fmt.Sprint\nvar _ = sort.Ints\nfunc main() { t, _ := strconv.ParseFloat(os.Args[1], 64); s := time.Now(); x := uint64(1)\n"
             "\tfor time.Since(s).Seconds() < t { x = f0(x, 3) }; sink = x }"),
    "d": dict(
        file="t.d", head="import std.algorithm, std.conv, std.datetime.stopwatch, std.format;\n__gshared ulong sink;",
        function="pragma(inline, false) ulong f{i}(ulong a, ulong b) {{\n{body}\n\treturn a + b;\n}}", call=CALL,
        work=["foreach (j; 0 .. {n}) {{ a = a * 31 + j; sink += a; }}",
              "{{ auto v = new int[{n}]; foreach (j, ref x; v) x = cast(int)(a * j) % 1000; sort(v); b ^= v[3]; }}",
              "{{ auto s = format(\"%d %s\", a, b); b += s.length; }}",
              "try {{ if (a & 1) throw new Exception(\"x\"); sink++; }} catch (Exception e) {{ sink += e.msg.length; }}"],
        main="void main(string[] v) { double t = v[1].to!double; auto s = StopWatch(AutoStart.yes); ulong x = 1;\n"
             "\twhile (s.peek.total!\"msecs\" < t * 1000) x = f0(x, 3); sink = x; }"),
    "nim": dict(
        file="t.nim", head="import std/[algorithm, os, strutils, times]\nvar sink: uint64",
        declaration="proc f{i}(a0, b0: uint64): uint64 {{.noinline.}}",
        function="proc f{i}(a0, b0: uint64): uint64 =\n  var a = a0\n  var b = b0\n{body}\n  result = a + b",
        call="  a += f{k}(a xor {k}, b + {k})",
        work=["  for j in 0'u64 .. {n}: (a = a * 31 + j; sink = a)",
              "  block:\n    var v = newSeq[int]({n})\n    for j in 0 ..< {n}: v[j] = int(a * uint64(j) mod 1000)\n    v.sort()\n    b = b xor uint64(v[3])",
              "  b += uint64(len($a & \" \" & toHex(b)))",
              "  try:\n    if (a and 1) == 1: raise newException(ValueError, \"x\")\n    sink += 1\n  except ValueError: sink = 0"],
        main="let t = parseFloat(paramStr(1))\nlet s = epochTime()\nvar x = 1'u64\nwhile epochTime() - s < t: x = f0(x, 3)\nsink = x"),
    "ruby": dict(
        file="t.rb", head="", function="def f{i}(a, b)\n{body}\n  (a + b) & 0xffffffff\nend",
        call="  a = (a + f{k}(a ^ {k}, b + {k})) & 0xffffffff",
        work=["  {n}.times {{ |j| a = (a * 31 + j) & 0xffffffff }}", "  b ^= (0..{n}).map {{ |j| (a * j) % 1000 }}.sort[3]"],
        main="t = ARGV[0].to_f; s = Time.now; x = 1; x = f0(x, 3) while Time.now - s < t"),
    "perl": dict(
        file="t.pl", head="use Time::HiRes 'time';", function="sub f{i} {{ my ($p, $q) = @_;\n{body}\n  return ($p + $q) & 0xffffffff; }}",
        call="  $p = ($p + f{k}($p ^ {k}, $q + {k})) & 0xffffffff;",
        work=["  for my $j (0..{n}) {{ $p = ($p * 31 + $j) & 0xffffffff; }}",
              "  {{ my @v = sort {{ $a <=> $b }} map {{ ($p * $_) % 1000 }} 0..{n}; $q ^= $v[3]; }}"],
        main="my ($s, $x) = (time, 1); $x = f0($x, 3) while time - $s < $ARGV[0];"),
    "php": dict(
        file="t.php", head="<?php", function="function f{i}($a, $b) {{\n{body}\n  return ($a + $b) & 0xffffffff; }}",
        call="  $a = ($a + f{k}($a ^ {k}, $b + {k})) & 0xffffffff;",
        work=["  for ($j = 0; $j < {n}; $j++) $a = ($a * 31 + $j) & 0xffffffff;",
              "  $v = []; for ($j = 0; $j < {n}; $j++) $v[] = ($a * $j) % 1000; sort($v); $b ^= $v[3];"],
        main="$s = microtime(true); $x = 1; while (microtime(true) - $s < (float)$argv[1]) $x = f0($x, 3);"),
    "lua": dict(
        file="t.lua", head="", function="function f{i}(a, b)\n{body}\n  return (a + b) % 1048576\nend",
        call="  a = (a + f{k}((a + {k}) % 65536, b + {k})) % 1048576",
        work=["  for j = 0, {n} do a = (a * 31 + j) % 1048576 end",
              "  do local v = {{}} for j = 1, {n} do v[j] = (a * j) % 1000 end table.sort(v) b = b + v[3] end"],
        main="local t, s, x = tonumber(arg[1]), os.clock(), 1 while os.clock() - s < t do x = f0(x, 3) end"),
    "ocaml": dict(
        file="t.ml", head="let sink = ref 0", callees_first=True,
        function="let[@inline never] f{i} a b =\n  let a = ref a and b = ref b in\n{body}\n  !a + !b",
        call="a := !a + f{k} (!a lxor {k}) (!b + {k});",
        work=["for j = 0 to {n} do a := !a * 31 + j; sink := !a done;",
              "(let v = Array.init {n} (fun j -> (!a * j) mod 1000) in Array.sort compare v; b := !b lxor v.(3));",
              "(let s = Printf.sprintf \"%d %s\" !a (string_of_int !b) in b := !b + String.length s);",
              "(let h = Hashtbl.create 16 in for j = 0 to {n} do Hashtbl.replace h (j * !a) j done; b := !b lxor Hashtbl.length h);"],
        main="let () = let t = float_of_string Sys.argv.(1) in let s = Sys.time () in let x = ref 1 in\n"
             "  while Sys.time () -. s < t do x := f0 !x 3 done; sink := !x"),
    "fortran": dict(
        file="t.f90", head="module m\n implicit none\n integer(8), volatile :: sink\ncontains",
        function=" recursive integer(8) function f{i}(a0, b0) result(res)\n  integer(8), intent(in) :: a0, b0\n  integer(8) :: a, b, j\n"
                 "  real(8) :: q(60)\n  character(len=64) :: s\n  a = a0; b = b0\n{body}\n  res = a + b\n end function",
        call="a = a + f{k}(ieor(a, {k}_8), b + {k})",
        work=["do j = 1, {n}\n a = a * 31 + j; sink = a\n enddo",
              "do j = 1, size(q)\n q(j) = sin(real(a + j, 8))\n enddo\n b = ieor(b, int(q(3) * 100, 8))",
              "write(s, \"(I20,1X,F10.3)\") a, real(iand(b, 255_8), 8)\n b = b + len_trim(s)"],
        main="end module\nprogram tree\n use m\n integer(8) :: x\n real(8) :: t, s, e\n character(len=32) :: arg\n call get_command_argument(1, arg)\n"
             " read(arg, *) t\n call cpu_time(s)\n x = 1\n do\n x = f0(x, 3_8)\n call cpu_time(e)\n if (e - s > t) exit\n enddo\n sink = x\nend program"),
    "ada": dict(
        file="tree.adb", head="with Ada.Command_Line; with Ada.Calendar; use Ada.Calendar;\nprocedure Tree is\n type U is mod 2 ** 64;\n"
                              " Sink : U := 0; pragma Volatile (Sink);",
        declaration=" function f{i} (A0, B0 : U) return U; pragma No_Inline (f{i});",
        function=" function f{i} (A0, B0 : U) return U is\n  A : U := A0; B : U := B0;\n begin\n{body}\n  return A + B;\n end f{i};",
        call="A := A + f{k} (A xor {k}, B + {k});",
        work=["for J in U range 1 .. {n} loop A := A * 31 + J; Sink := A; end loop;",
              "declare S : String := U'Image (A); begin B := B + U (S'Length); end;",
              "begin if (A and 1) = 1 then raise Constraint_Error; end if; Sink := 1; exception when Constraint_Error => Sink := 0; end;"],
        main=" T : Duration := Duration'Value (Ada.Command_Line.Argument (1)); S : Time := Clock; X : U := 1;\nbegin\n"
             " while Clock - S < T loop X := f0 (X, 3); end loop;\n Sink := X;\nend Tree;"),
    "pascal": dict(
        file="tree.pas", head="program tree;\n{$mode objfpc}{$Q-}{$R-}\nuses SysUtils;\nvar sink: Int64;",
        declaration="function f{i}(a, b: Int64): Int64; forward;",
        function="function f{i}(a, b: Int64): Int64;\nvar j: Integer; s: string;\nbegin\n{body}\n  f{i} := a + b;\nend;",
        call="a := a + f{k}(a xor {k}, b + {k});",
        work=["for j := 0 to {n} do begin a := a * 31 + j; sink := a; end;",
              "s := IntToStr(a) + FloatToStr(b and 255); b := b + Length(s);",
              "try if (a and 1) = 1 then raise Exception.Create('x'); sink := 1; except on e: Exception do sink := 0; end;"],
        main="var t: Double; s: QWord; x: Int64;\nbegin t := StrToFloat(ParamStr(1)); s := GetTickCount64; x := 1;\n"
             " while GetTickCount64 - s < t * 1000 do x := f0(x, 3); sink := x; end."),
    "java": dict(
        file="Tree.java", head="import java.util.*;\npublic class Tree { static volatile long sink;",
        function="static long f{i}(long a, long b) {{\n{body}\n\treturn a + b; }}", call=CALL,
        work=["for (int j = 0; j < {n}; j++) {{ a = a * 31 + j; sink = a; }}",
              "{{ int[] v = new int[{n}]; for (int j = 0; j < {n}; j++) v[j] = (int)(a * j) % 1000; Arrays.sort(v); b ^= v[3]; }}",
              "{{ HashMap<Long,Long> h = new HashMap<>(); for (long j = 0; j < {n}; j++) h.put(j * a, j); b ^= h.size(); }}"],
        main="public static void main(String[] v) { double t = Double.parseDouble(v[0]); long s = System.nanoTime(), x = 1;\n"
             "\twhile (System.nanoTime() - s < t * 1e9) x = f0(x, 3); sink = x; } }"),
    "node": dict(
        file="t.js", head="let sink = 0;", function="function f{i}(a, b) {{\n{body}\n\treturn (a + b) | 0; }}",
        call="a = (a + f{k}(a ^ {k}, b + {k})) | 0;",
        work=["for (let j = 0; j < {n}; j++) {{ a = (a * 31 + j) | 0; sink = a; }}",
              "{{ const v = []; for (let j = 0; j < {n}; j++) v.push((a * j) % 1000); v.sort((x, y) => x - y); b = (b ^ v[3]) | 0; }}",
              "{{ const h = new Map(); for (let j = 0; j < {n}; j++) h.set(j * a, j); b = (b ^ h.size) | 0; }}"],
        main="const t = parseFloat(process.argv[2]) * 1000, s = Date.now(); let x = 1; while (Date.now() - s < t) x = f0(x, 3);"),
    "python": dict(
        file="t.py", head="import sys, time", function="def f{i}(a, b):\n{body}\n    return (a + b) & 0xffffffff",
        call="    a = (a + f{k}(a ^ {k}, b + {k})) & 0xffffffff",
        work=["    for j in range({n}): a = (a * 31 + j) & 0xffffffff",
              "    b ^= sorted([(a * j) % 1000 for j in range({n})])[3]"],
        main="t = float(sys.argv[1]); s = time.time(); x = 1\nwhile time.time() - s < t: x = f0(x, 3)"),
    "haskell": dict(
        file="t.hs", head="{-# LANGUAGE BangPatterns #-}\nmodule Main where\nimport System.Environment\nimport Data.List\nimport System.CPUTime",
        function="{{-# NOINLINE f{i} #-}}\nf{i} :: Int -> Int -> Int\nf{i} !a !b = {body}0 + foldl' (\\x j -> x * 31 + j) a [1 .. {i} + 20]",
        call="f{k} (a * 3 + {k}) (b + {k}) + ", work=[""], between="",
        main="loop :: Integer -> Int -> IO Int\nloop e !x = do { t <- getCPUTime; if t > e then return x else loop e (f0 x 3) }\n"
             "main :: IO ()\nmain = do { [a] <- getArgs; s <- getCPUTime; r <- loop (s + round ((read a :: Double) * 1e12)) 1; print (r `mod` 2) }"),
    "erlang": dict(
        file="tree.erl", head="-module(tree).\n-export([main/1]).\n-compile(no_auto_import).",
        function="f{i}(A, B) ->\n  {body}(lists:foldl(fun(J, X) -> (X * 31 + J) band 16#ffffffff end, A, lists:seq(1, {i} + 20)) + B) band 16#ffffffff.",
        call="f{k}(A bxor {k}, B + {k}) + ", work=[""], between="",
        main="main([T]) -> E = erlang:monotonic_time(millisecond) + erlang:round(erlang:list_to_float(T) * 1000), loop(E, 1), erlang:halt(0).\n"
             "loop(E, X) -> case erlang:monotonic_time(millisecond) > E of true -> ok; false -> loop(E, (f0(X, 3) + 0) band 16#ffffffff) end."),
}


def make(name, seed):
    language = LANGUAGES[name]
    r = random.Random(seed)
    parent = {0: None}
    for i in range(1, FUNCTIONS):
        parent[i] = max(0, i - 1 - int(r.expovariate(0.9)))
    functions = []
    for i in range(FUNCTIONS):
        body = [language["call"].format(k=k) for k in parent if parent[k] == i]
        body += [r.choice(language["work"]).format(n=r.randrange(20, 120)) for _ in range(2)]
        r.shuffle(body)
        functions.append(language["function"].format(i=i, body=language.get("between", "\n").join(body)))
    declared = [language["declaration"].format(i=i) for i in range(FUNCTIONS)] if "declaration" in language else []
    if name in ("c", "c++"):
        declared = [f"static long f{i}(long a, long b);" for i in range(FUNCTIONS)]
    if language.get("callees_first"):
        functions.reverse()
    with open(language["file"], "w") as f:
        f.write("\n".join([language["head"], *declared, *functions, language["main"]]) + "\n")
    with open("tree.json", "w") as f:
        json.dump(parent, f)


def check(pattern, root):
    with open("tree.json") as f:
        parent = {int(k): v for k, v in json.load(f).items()}
    pattern, root = re.compile(pattern), re.compile(root)
    counts = dict.fromkeys(("samples", "whole", "right", "wrong", "cut"), 0)
    shown = 0
    for stack in sys.stdin.read().split("\n\n"):
        frames = [line.split(None, 1)[1] for line in stack.splitlines() if re.match(r"\s+[0-9a-f]+ ", line)]
        got = [int(m[1]) for m in map(pattern.search, frames) if m]
        got = [f for i, f in enumerate(got) if i == 0 or got[i - 1] != f]
        if not got:
            continue
        want, f = [], got[0]
        while f is not None:
            want.append(f)
            f = parent[f]
        is_whole = bool(root.search(frames[-1]))
        kind = "right" if got == want else "cut" if got == want[:len(got)] and not is_whole else "wrong"
        counts["samples"] += 1
        counts["whole"] += is_whole
        counts[kind] += 1
        if (kind != "right" or not is_whole) and shown < 3:
            shown += 1
            print(f"{kind}: {' < '.join(frames)[:400]}", file=sys.stderr)
    print(*counts.values())


if sys.argv[1] == "make":
    make(sys.argv[2], int(sys.argv[3]))
else:
    check(sys.argv[2], sys.argv[3])
