"""Tries all mutants of cargo-mutants' list in one build: each is a branch of the code it changes, and an environment variable
says which one is taken. So a mutant costs the tests that reach it, and no compilation.

    mutants_at_once.py CRATE LIST.json        LIST: cargo mutants --list --json

It works on a copy of the sources in target/mutants/CRATE-at-once. Mutants that do not compile are found by the compiler's
errors and left out. What cannot be a branch (a field that is left out of a struct, an iterator of another type, a constant) is
told at the end: cargo-mutants tries it by itself.
"""

import concurrent.futures
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import tree_sitter
import tree_sitter_rust

SWITCH = "crate::mutants_switch::on"
RUST = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
# Operators bind with those around them: a branch holds the whole of such an expression.
BOUND = {"binary_expression", "unary_expression", "type_cast_expression"}
OPERATORS = BOUND | {"compound_assignment_expr"}
# Tests that take less of a processor than this, in seconds, are run together, and those that take less than the next; the others
# one by one, the shortest first.
SHORT_S = (0.02, 0.2)
# Tests that take more than this, in seconds, are left out: simulations that would be repeated for each mutant that nothing else notices.
LONG_S = float(os.environ.get("MUTANTS_LONG_S", "15"))
# A mutant is ended that takes so many times what its tests take without it, and so many seconds.
MOST_TIMES, MOST_S = 5, 3
# A test that still runs so many seconds after it should have ended is ended.
WAIT_S = 30.0
# A crate of which a build without optimisation is worth more than what it costs its tests.
LARGE = {"engine"}
MODULE = f'''//! Which mutant is on, and which were met.
use std::{{fs::File, io::Write, sync::{{LazyLock, Mutex, PoisonError, atomic::{{AtomicBool, Ordering}}}}}};

static ON: LazyLock<u32> =
    LazyLock::new(|| std::env::var("MUTANT_ON").ok().and_then(|n| n.parse().ok()).unwrap_or(u32::MAX));
static MET: LazyLock<Option<(Vec<AtomicBool>, Mutex<File>)>> = LazyLock::new(|| {{
    let path = std::env::var("MUTANTS_MET").ok()?;
    Some(((0..1 << 14).map(|_| AtomicBool::new(false)).collect(), Mutex::new(File::create(path).ok()?)))
}});

/// Whether this one is on.
pub fn on(number: u32) -> bool {{
    if let Some((met, file)) = &*MET {{
        // A look costs less than a change, and most calls meet what was met before.
        let met = &met[number as usize];
        if !met.load(Ordering::Relaxed) && !met.swap(true, Ordering::Relaxed) {{
            let _ = writeln!(file.lock().unwrap_or_else(PoisonError::into_inner), "{{number}}");
        }}
    }}
    *ON == number
}}
'''


class Source:
    """A file with the branches that are to be in it."""

    def __init__(self, path, text):
        self.path, self.text, self.code = path, text, text.encode()
        self.lines = [0]
        for line in text.split("\n"):
            self.lines.append(self.lines[-1] + len(line) + 1)
        self.root = RUST.parse(self.code).root_node
        self.branches = {}  # (start, end) in bytes → [(number, code)]
        self.inserts = {}  # place in bytes → [(number, code)]
        self.has_const_fn = False

    def place(self, at):
        character = self.lines[at["line"] - 1] + at["column"] - 1
        return len(self.text[:character].encode())

    def add(self, number, mutant):
        """Adds a mutant; gives the reason where it cannot be a branch."""
        start, end = self.place(mutant["span"]["start"]), self.place(mutant["span"]["end"])
        node = self.root.descendant_for_byte_range(start, end)
        function = above(node, {"function_item", "const_item", "static_item"})
        if function is None or function.type != "function_item":
            return "a constant"
        self.has_const_fn |= any(b"const" in child.text for child in function.children if child.type == "function_modifiers")
        genre, code = mutant["genre"], mutant["replacement"]
        if genre == "FnValue":
            if "impl " in mutant["function"]["return_type"]:
                return "another type"
            leave = "return;" if code == "()" else f"return {code};"
            body = function.child_by_field_name("body").start_byte + 1
            self.insert(body, number, f"if {SWITCH}({number}) {{ {leave} }} ")
        elif genre in ("BinaryOperator", "UnaryOperator"):
            whole = bound(node if node.type in OPERATORS else node.parent)
            if whole.type not in OPERATORS:
                return f"part of a {whole.type}"
            before, after = self.code[whole.start_byte : start], self.code[end : whole.end_byte]
            if code in ("<", "<<") and re.search(rb"\bas \w+\s*$", before):
                return "does not compile"
            self.branch(whole, number, (before + code.encode() + after).decode())
        elif genre == "MatchArmGuard":
            self.branches.setdefault((start, end), []).append((number, code))
        elif genre == "MatchArm":
            return self.add_arm(number, above(node, {"match_arm"}))
        else:
            return genre
        return None

    def add_arm(self, number, arm):
        pattern = arm.child_by_field_name("pattern")
        guard = pattern.child_by_field_name("condition")
        if guard is None:
            self.insert(pattern.end_byte, number, f" if !{SWITCH}({number}) ")
        elif guard.type in ("let_chain", "let_condition") or b"||" in guard.text:
            return "part of a guard"
        else:
            self.insert(guard.start_byte, number, f"!{SWITCH}({number}) && ")
        return None

    def insert(self, place, number, code):
        self.inserts.setdefault(place, []).append((number, code))

    def branch(self, node, number, code):
        self.branches.setdefault((node.start_byte, node.end_byte), []).append((number, code))

    def rendered(self, without):
        """The code with all branches but those of some mutants."""

        def kept(of):
            return [(number, code) for number, code in of if number not in without]

        branches = [(*span, kept(of)) for span, of in self.branches.items() if kept(of)]
        branches.sort(key=lambda branch: (branch[0], -branch[1]))
        inserts = sorted((place, "".join(code for _, code in kept(of))) for place, of in self.inserts.items())

        def plain(start, end):
            pieces, at = [], start
            for place, code in inserts:
                if start <= place < end:
                    pieces += [self.code[at:place].decode(), code]
                    at = place
            return "".join([*pieces, self.code[at:end].decode()])

        def within(start, end, inner):
            pieces, at = [], start
            while inner:
                first, last, of = inner[0]
                nested = [branch for branch in inner[1:] if branch[1] <= last and branch[0] >= first]
                inner = [branch for branch in inner[1:] if branch not in nested]
                pieces.append(plain(at, first))
                code = f"{{ {within(first, last, nested)} }}"
                for number, changed in reversed(of):
                    code = f"if {SWITCH}({number}) {{ {changed} }} else {code}"
                pieces.append(f"({code})")
                at = last
            return "".join([*pieces, plain(at, end)])

        code = within(0, len(self.code), branches)
        # A constant function cannot ask which branch to take.
        return re.sub(r"\bconst fn\b", "fn", code) if self.has_const_fn else code


def above(node, types):
    while node is not None and node.type not in types:
        node = node.parent
    return node


def bound(node):
    """The greatest expression of operators around one."""
    while node.type != "compound_assignment_expr" and node.parent is not None and node.parent.type in BOUND:
        node = node.parent
    return node


class AtOnce:
    """A copy of the workspace with all mutants of a crate."""

    def __init__(self, crate, mutants):
        self.crate, self.mutants = crate, mutants
        self.tree = Path("target/mutants", f"{crate}-at-once").resolve()
        self.without = {}
        self.copy()
        self.sources = {}
        for number, mutant in enumerate(mutants):
            path = mutant["file"]
            if path not in self.sources:
                self.sources[path] = Source(path, Path(path).read_text())
            if reason := self.sources[path].add(number, mutant):
                self.without[number] = reason

    def copy(self):
        """What changed since it was copied last is copied again, so that cargo compiles no more than that."""
        files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], check=True, capture_output=True, text=True)
        for name in files.stdout.splitlines():
            ours, theirs = Path(name), self.tree / name
            if ours.is_file() and not (theirs.exists() and theirs.read_bytes() == ours.read_bytes()):
                theirs.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ours, theirs)

    def write(self):
        root = f"crates/{self.crate}/src"
        written = {path: source.rendered(self.without) for path, source in self.sources.items()}
        lib = written.get(f"{root}/lib.rs", Path(root, "lib.rs").read_text())
        # What the compiler foresees of a mutant is what its tests are to notice.
        written[f"{root}/lib.rs"] = f"#![allow(arithmetic_overflow, unconditional_panic, unused)] {lib}\nmod mutants_switch;\n"
        written[f"{root}/mutants_switch.rs"] = MODULE
        for path, code in written.items():
            theirs = self.tree / path
            if not theirs.exists() or theirs.read_text() != code:
                theirs.write_text(code)

    def cargo(self, *arguments):
        environment = {**os.environ, "CARGO_TARGET_DIR": str(Path("target/mutants/built").resolve()), "CARGO_PROFILE_DEV_DEBUG": "0"}
        level = ["--config", f"profile.dev.package.iotbench-{self.crate}.opt-level=0"] if self.crate in LARGE else []
        command = ["cargo", *arguments, "--package", f"iotbench-{self.crate}", *level, "--message-format=json"]
        done = subprocess.run(command, cwd=self.tree, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        return done.returncode == 0, messages

    def build(self):
        """The test programs, once all mutants that do not compile are left out."""
        for _ in range(20):
            self.write()
            compiles, messages = self.cargo("check", "--lib")
            if compiles:
                break
            found = {number for message in messages for number in self.blamed(message)} - self.without.keys()
            if not found:
                sys.exit("the copy does not compile, and no mutant is to blame: " + first_error(messages))
            self.without |= dict.fromkeys(found, "does not compile")
        tests = ["--lib"] if self.crate == "engine" else ["--lib", "--tests"]
        compiles, messages = self.cargo("test", "--no-run", *tests)
        if not compiles:
            sys.exit("the tests do not compile: " + first_error(messages))
        return [message["executable"] for message in messages if message.get("executable")]

    def blamed(self, message):
        """The mutants whose branches an error lies in: the last one asked for before it."""
        error = message.get("message") or {}
        if message.get("reason") != "compiler-message" or error["level"] != "error":
            return
        for span in (span for span in error["spans"] if span["is_primary"]):
            # What a macro of another crate says is said of where it is used.
            while span.get("expansion") and span["file_name"].startswith("/"):
                span = span["expansion"]["span"]
            if span["file_name"].startswith("/"):
                continue
            if (error["code"] or {}).get("code") == "E0004":
                yield from self.arms_around(span)
                continue
            code = (self.tree / span["file_name"]).read_bytes()[: span["byte_start"]]
            if asked := re.findall(rb"mutants_switch::on\((\d+)\)", code):
                yield int(asked[-1])

    def arms_around(self, span):
        """The arms that are deleted in a function: without them a match is not exhaustive. Branches add no lines."""
        for number, mutant in enumerate(self.mutants):
            if mutant["genre"] == "MatchArm" and mutant["file"] == span["file_name"]:
                lines = mutant["function"]["span"]
                if lines["start"]["line"] <= span["line_start"] <= lines["end"]["line"]:
                    yield number


def workers():
    """As many as there are processors that this program may use."""
    return concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0)))


def first_error(messages):
    errors = (message["message"]["rendered"] for message in messages if message.get("reason") == "compiler-message" and message["message"]["level"] == "error")
    return next(errors, "?")


class Tests:
    """The tests of some programs, with what each takes and which mutants it meets."""

    def __init__(self, folder, programs):
        self.folder, self.scratch = folder, Path("target/mutants")
        with workers() as pool:
            found = list(pool.map(self.probe, [test for program in programs for test in self.listed(program)]))
        self.of_mutant = {}
        for test, took_s, met in sorted(found, key=lambda one: one[1]):
            for number in met:
                self.of_mutant.setdefault(number, []).append((test, took_s))

    def listed(self, program):
        listed = subprocess.run([program, "--list", "--format", "terse"], cwd=self.folder, check=True, capture_output=True, text=True)
        return [(program, line.removesuffix(": test")) for line in listed.stdout.splitlines() if line.endswith(": test")]

    def probe(self, test):
        told = self.scratch / f"met-{abs(hash(test))}"
        passes, took_s = self.run(test[0], [test[1]], LONG_S + 1, MUTANTS_MET=str(told.resolve()))
        met = [int(line) for line in told.read_text().split()] if told.exists() else []
        told.unlink(missing_ok=True)
        if took_s > LONG_S or passes != 0:
            print(f"{'takes too long' if took_s > LONG_S else 'fails by itself'}, and is left out: {test[1]}", flush=True)
            return test, took_s, []
        return test, took_s, met

    def run(self, program, names, most_cpu_s, **environment):
        def limits():
            resource.setrlimit(resource.RLIMIT_CPU, (int(most_cpu_s), int(most_cpu_s)))
            resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))

        command = [program, "--exact", *names, "--test-threads", "1"]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started = subprocess.Popen(command, cwd=self.folder, env={**os.environ, **environment}, preexec_fn=limits, **silent)
        # Processor time is what it costs whatever else runs; what only waits, for a thread that is gone, is ended too.
        ends = time.monotonic() + WAIT_S + 4 * most_cpu_s
        while (ended := os.wait4(started.pid, os.WNOHANG))[0] == 0:
            if time.monotonic() > ends:
                started.kill()
            time.sleep(0.005)
        started.returncode = os.waitstatus_to_exitcode(ended[1])
        return started.returncode, ended[2].ru_utime + ended[2].ru_stime

    def fate(self, number):
        runs = {}  # The shortest first, as the tests are.
        for (program, name), took_s in self.of_mutant.get(number, []):
            together = next((most_s for most_s in SHORT_S if took_s < most_s), name)
            names, all_s = runs.get((together, program), ([], 0.0))
            runs[together, program] = [*names, name], all_s + took_s
        for (_, program), (names, all_s) in runs.items():
            most_cpu_s = MOST_S + MOST_TIMES * all_s
            code, _ = self.run(program, names, most_cpu_s, MUTANT_ON=str(number))
            if code != 0:
                # It was ended for its processor time: an endless loop is noticed too, and told apart as cargo-mutants does.
                return "timeout" if code in (-9, -24) else "caught"
        return "missed"


def main():
    crate, mutants = sys.argv[1], json.loads(Path(sys.argv[2]).read_text())
    at_once = AtOnce(crate, mutants)
    # In the copy: what tests leave behind, such as what proptest will try again, is left there.
    tests = Tests(at_once.tree / "crates" / crate, at_once.build())
    tried = [number for number in range(len(mutants)) if number not in at_once.without]
    of_file = {}
    for number in tried:
        of_file.setdefault(mutants[number]["file"], []).append(number)
    fates = {}
    # The greatest files first.
    for path, numbers in sorted(of_file.items(), key=lambda item: -len(item[1])):
        with workers() as pool:
            for number, fate in zip(numbers, pool.map(tests.fate, numbers), strict=True):
                fates[number] = fate
                if fate != "caught":
                    print(f"{fate}: {mutants[number]['name']}", flush=True)
        print(f"{path} is done", flush=True)
    fates |= {number: "unviable" if why == "does not compile" else f"left to cargo-mutants ({why})" for number, why in at_once.without.items()}
    by_file = {}
    for number, fate in fates.items():
        by_file.setdefault(mutants[number]["file"], Counter())[fate.split(" (")[0]] += 1
        if fate.startswith("left"):
            print(f"{fate}: {mutants[number]['name']}")
    for path, counts in sorted(by_file.items()):
        print(path, dict(counts))
    print("all", dict(sum(by_file.values(), Counter())))
    sys.exit(2 if "missed" in fates.values() else 0)


if __name__ == "__main__":
    main()
