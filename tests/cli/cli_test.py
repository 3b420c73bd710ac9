#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The command from outside: statuses, messages, files, output.

usage: cli_test.py HWT [TEST...]
"""
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

HWT = os.path.realpath(sys.argv[1]) if len(sys.argv) > 1 else "hwt"
# Seconds for one command; with a sanitizer in the emulator it takes several times as long.
LIMIT = 300 if "HWT_EMULATOR_PRELOAD" in os.environ else 60
ADDRESS = re.compile(r"^[0-9a-f]+$")


def hwt(*args, **kwargs):
    kwargs.setdefault("timeout", LIMIT)
    kwargs.setdefault("capture_output", True)
    kwargs.setdefault("text", True)
    kwargs.setdefault("errors", "replace")
    return subprocess.run([HWT, *map(str, args)], check=False, **kwargs)


def elf_header(bits, machine):
    ident = b"\x7fELF" + bytes([bits // 32, 1, 1]) + bytes(9)
    return ident + struct.pack("<HHI", 2, machine, 1) + bytes(200)


def compile_c(folder, name, source, *flags):
    (folder / f"{name}.c").write_text(source)
    subprocess.run(["cc", "-O1", "-o", folder / name, folder / f"{name}.c", *flags],
                   check=True)
    return folder / name


class Case(unittest.TestCase):
    """A folder of its own, in which commands run."""

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="hwt-cli."))
        self.addCleanup(shutil.rmtree, self.dir)

    def run_hwt(self, *args, status=0, **kwargs):
        done = hwt(*args, cwd=self.dir, **kwargs)
        self.assertEqual(done.returncode, status, f"{args}: {done.stderr}")
        return done

    def record(self, *args, status=0, **kwargs):
        return self.run_hwt("record", "-q", *args, status=status, **kwargs)

    def info(self, status=0, *args):
        done = self.run_hwt("info", "--json", *args, status=status)
        return json.loads(done.stdout)

    def one_line(self, done, *words):
        """An error is one line that holds these words."""
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def until_recorded(self, process, least=1 << 16):
        """So many bytes are in the file, or the recorder has ended."""
        data = self.dir / "hwt.data"
        while process.poll() is None:
            if data.exists() and data.stat().st_size >= least:
                return
            time.sleep(0.01)


class Target(Case):
    """The program is as it would be without hwt."""

    def test_status(self):
        for code in (0, 1, 77, 255):
            self.record("sh", "-c", f"exit {code}", status=code)

    def test_signal_status(self):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT):
            self.record("sh", "-c", f"kill -{int(number)} $$", status=128 + number)
            self.assertEqual(self.info()["threads"][0]["signal"], number)

    def test_output_and_input(self):
        done = self.record("cat", "-", input="one\ntwo\n")
        self.assertEqual(done.stdout, "one\ntwo\n")
        self.assertEqual(done.stderr, "")

    def test_arguments_and_environment(self):
        script = 'printf "%s|" "$0" "$@"; env | grep ^HWT_TEST'
        done = self.record("--", "sh", "-c", script, "a b", "-x", "--", "",
                           env=dict(os.environ, HWT_TEST="x=1,y\t2"))
        self.assertEqual(done.stdout, "a b|-x|--||HWT_TEST=x=1,y\t2\n")

    def test_descriptors(self):
        plain = subprocess.run(["qemu-x86_64", "-cpu", "max", "/bin/ls", "/proc/self/fd"],
                               capture_output=True, text=True, check=True).stdout
        done = self.record("/bin/ls", "/proc/self/fd")
        self.assertEqual(done.stdout.split(), plain.split())

    def test_closed_descriptors(self):
        """Neither the program nor the recording gets what was closed."""
        script = f"{HWT} record -o d sh -c 'ls /proc/self/fd >f' <&- >&- 2>&-"
        done = subprocess.run(["sh", "-c", script], cwd=self.dir, check=False, timeout=LIMIT)
        self.assertEqual(done.returncode, 0)
        # 0 is ls's own look at the folder, 1 is the file.
        self.assertEqual((self.dir / "f").read_text().split(), ["0", "1"])
        self.info(0, "-i", "d")
        done = subprocess.run(["sh", "-c", f"{HWT} info -i d >&-"], cwd=self.dir, text=True,
                              stderr=subprocess.PIPE, check=False, timeout=LIMIT)
        self.assertEqual(done.returncode, 1)
        self.assertIn("Bad file descriptor", done.stderr)

    def test_ready_fd(self):
        read_end, write_end = os.pipe()
        self.record("--ready-fd", write_end, "true", pass_fds=[write_end])
        os.close(write_end)
        self.assertEqual(os.read(read_end, 10), b"\0")
        self.assertEqual(os.read(read_end, 10), b"")
        os.close(read_end)

    def test_signals_are_passed_on(self):
        read_end, write_end = os.pipe()
        script = 'trap "echo got; exit 9" USR1; echo up; while :; do sleep 0.05; done'
        with subprocess.Popen([HWT, "record", "-q", "--ready-fd", str(write_end), "bash",
                               "-c", script], cwd=self.dir, pass_fds=[write_end],
                              stdout=subprocess.PIPE, text=True) as process:
            os.close(write_end)
            self.assertEqual(os.read(read_end, 1), b"\0")
            os.close(read_end)
            self.assertEqual(process.stdout.readline(), "up\n")
            process.send_signal(signal.SIGUSR1)
            self.assertEqual(process.stdout.readline(), "got\n")
            self.assertEqual(process.wait(30), 9)
        self.assertEqual(self.info()["threads"][0]["exit_status"], 9)

    def test_ignored_signals_stay_ignored(self):
        done = self.record("bash", "-c", "kill -HUP $$; echo alive",
                           preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertEqual(done.stdout, "alive\n")

    def test_script_is_run(self):
        script = self.dir / "script"
        script.write_text("#!/bin/sh\necho $1; exit 5\n")
        script.chmod(0o755)
        done = self.record("./script", "arg", status=5)
        self.assertEqual(done.stdout, "arg\n")


class Failures(Case):
    """One clear line, the right status."""

    def test_no_such_program(self):
        self.one_line(self.record("/no/such/prog", status=127), "/no/such/prog")
        self.one_line(self.record("no-such-prog", status=127), "no-such-prog")
        self.assertFalse((self.dir / "hwt.data").exists())

    def test_not_executable(self):
        (self.dir / "text").write_text("text")
        self.one_line(self.record("./text", status=126), "./text", "Permission denied")

    def test_cut_program(self):
        prog = self.dir / "prog"
        prog.write_bytes(pathlib.Path("/bin/true").read_bytes()[:100])
        prog.chmod(0o755)
        self.one_line(self.record("./prog", status=126), "./prog: not an executable format")

    def test_script_of_itself(self):
        prog = self.dir / "prog"
        prog.write_text(f"#!{prog}\n")
        prog.chmod(0o755)
        self.one_line(self.record(prog, status=126), "Too many levels")

    def test_foreign_programs_are_named(self):
        for bits, machine, name in ((32, 3, "80386"), (64, 183, "AArch64")):
            path = self.dir / f"elf{machine}"
            path.write_bytes(elf_header(bits, machine))
            path.chmod(0o755)
            self.one_line(self.record("-c", "pt", path, status=126), name, str(path))
        for backend in ("coresight", "spe"):
            self.one_line(self.record("-c", backend, "/bin/true", status=126),
                          f"/bin/true: a program for x86-64; {backend} traces programs for "
                          "AArch64: use -c pt")

    def test_options_of_another_unit(self):
        for option in ("--interval=512", "--no-jitter", "--types=load", "--latency=3",
                       "--branch-broadcast"):
            self.one_line(self.record(option, "/bin/true", status=125), option.split("=")[0],
                          "traced by pt")

    def test_no_qemu(self):
        done = self.record("/bin/true", status=125, env={"PATH": "/nonexistent"})
        self.one_line(done, "qemu-user", "apt install")
        for name in ("/no/such/qemu", "/etc/passwd", "/dev/null", "no-such-qemu"):
            done = self.record("--qemu", name, "/bin/true", status=125)
            self.assertIn(name, done.stderr)
            self.assertIn("QEMU" if "/" in name else "apt install", done.stderr)

    def test_output_cannot_be_written(self):
        for path in ("/nonexistent/x", "/dev/full", self.dir):
            done = self.record("-o", path, "sh", "-c", "echo ran >&2", status=125)
            self.one_line(done, str(path))

    def test_output_to_a_pipe(self):
        """A recording is written in place."""
        self.one_line(self.record("-o", "-", "/bin/true", status=125), "-o -", "./-")
        done = self.record("-o", "/dev/stdout", "/bin/true", status=125)
        self.one_line(done, "/dev/stdout", "written in place")

    def test_output_of_another(self):
        """A file that a hwt writes is no other's, and says that it is being written."""
        ready, done = os.pipe()
        for words, name in ((["record", "-q", "-o", "d"], "d"), (["-r", "-w", "r"], "r"),
                            (["-w", "l"], "l")):
            first = subprocess.Popen([HWT, *words, "sh", "-c", f"echo >&{done}; read x; exit 5"],
                                     cwd=self.dir, stdin=subprocess.PIPE, pass_fds=[done])
            os.read(ready, 1)
            for second, status in ((["record", "-q", "-o"], 125), (["-r", "-w"], 125),
                                   (["-w"], 1)):
                out = self.run_hwt(*second, name, "sh", "-c", "echo ran", status=status)
                self.assertEqual(out.stdout, "")
                self.one_line(out, name, "is being written by another hwt")
            if name == "d":
                while hwt("info", "-i", "d", cwd=self.dir).returncode == 1:
                    time.sleep(0.1)  # until it was flushed
                out = self.run_hwt("info", "--json", "-i", "d", status=3)
                self.assertTrue(json.loads(out.stdout)["recording"]["still_recording"])
                self.assertIn("it is still being recorded", out.stderr)
            first.communicate(b"\n")
            self.assertEqual(first.returncode, 5)
        self.assertFalse(self.info(0, "-i", "d")["recording"]["still_recording"])
        os.close(ready)
        os.close(done)

    def test_usage(self):
        for args in (["record"], ["record", "-b", "5", "true"], ["record", "-b", "4096", "true"], ["record", "--nope", "x"],
                     ["record", "--ready-fd", "99", "true"],
                     ["record", "-i", "kernel", "true"],
                     ["record", "-c", "nope", "true"], ["record", "--host", "nope", "true"]):
            self.one_line(self.run_hwt(*args, status=125))
        for args in (["script", "-F", "nope"], ["script", "x"], ["info", "--tid"],
                     ["help", "nope"], ["script", "--map", "x"], ["-P", "1"],
                     ["-s", "0", "-i", "kernel", "-f", "schedule"], ["-r", "/bin/true"],
                     ["-o", "nope", "/bin/true"], []):
            self.one_line(self.run_hwt(*args, status=1))

    def test_what_is_no_recording(self):
        (self.dir / "empty").write_bytes(b"")
        (self.dir / "pt").write_bytes(b"\x02\x82" * 8 + bytes(64))
        (self.dir / "text").write_text("some text that is long enough to be read")
        for path, word in (("/bin/true", "ELF"), ("empty", "empty"), ("/tmp", "directory"),
                           ("pt", "PT"), ("text", ""), ("nosuch", "No such file")):
            for command in ("info", "script", "report", "calls", "dump", "export"):
                done = self.run_hwt(command, "-i", path, *["folder"] * (command == "export"),
                                    status=1)
                self.one_line(done, path, word)

    def test_closed_output(self):
        self.record("true")
        for args in (["script"], ["report"], ["calls"], ["dump"], ["info"], ["help"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([HWT, *args], cwd=self.dir, stdout=full, text=True,
                                      stderr=subprocess.PIPE, check=False, timeout=LIMIT)
            self.assertEqual(done.returncode, 1, args)
            self.assertIn("No space left", done.stderr)

    def test_unit_in_words(self):
        self.record("--mtc=2", "--cyc", "--no-tsc", "--no-retcomp", "--psb", "1", "--", "true")
        self.assertIn("user code, MTC every 2^2 ticks, CYC, no return compression, PSB every 4K",
                      self.run_hwt("info", "--no-decode").stdout)

    def test_thread_that_is_not_there(self):
        self.record("true")
        self.one_line(self.run_hwt("script", "--tid", 1, status=1), "no thread 1")

    def test_hwt_killed(self):
        """Everything up to the last flush can be read; the program runs on."""
        script = "SECONDS=0; while [ $SECONDS -lt 4 ]; do :; done; echo end"
        with subprocess.Popen([HWT, "record", "-q", "bash", "-c", script], text=True,
                              cwd=self.dir, stdout=subprocess.PIPE) as process:
            self.until_recorded(process)
            process.kill()
            self.assertEqual(process.stdout.read(), "end\n")
        data = hwt("info", "--json", cwd=self.dir)
        self.assertEqual(data.returncode, 3, data.stderr)
        self.assertFalse(json.loads(data.stdout)["recording"]["complete"])
        self.assertEqual(json.loads(data.stdout)["summary"]["verdict"], "cut")


    def test_cut(self):
        """A file that is cut is called that, wherever it was."""
        self.record("true")
        whole = (self.dir / "hwt.data").read_bytes()
        data_end = sum(struct.unpack_from("<QQ", whole, 40))
        (self.dir / "cut.data").write_bytes(whole[:data_end * 3 // 4])
        told = self.run_hwt("info", "cut.data", status=3)
        self.assertNotIn("complete", told.stdout)
        self.assertIn("at offset", told.stderr)
        for size in (len(whole) - 1, data_end + 8, data_end):
            (self.dir / "cut.data").write_bytes(whole[:size])
            told = self.run_hwt("info", "--json", "cut.data", status=3)
            self.one_line(told, f"at offset {size}")
            told = json.loads(told.stdout)
            self.assertFalse(told["recording"]["complete"])
            self.assertEqual(told["recording"]["truncated_at"], size)
            self.assertEqual(told["summary"]["verdict"], "cut")
            self.assertEqual(told["threads"][0]["summary"]["verdict"], "cut")
            text = self.run_hwt("info", "cut.data", status=3).stdout
            self.assertNotIn("in good order", text)
            self.assertNotIn("complete", text)
            text = self.run_hwt("report", "cut.data", status=3).stdout
            self.assertRegex(text.splitlines()[0], ": cut$")


    def test_loop_without_packets(self):
        """Direct branches alone: how often they ran is not known, and said."""
        prog = compile_c(self.dir, "prog", "#include <unistd.h>\n"
                         "int main(void) { alarm(1); for (;;) ; }", "-O0")
        self.record(prog, status=142)
        done = self.run_hwt("info", status=3)
        self.assertIn("1 gap [1 x a loop without packets", done.stderr)


    def raw_program(self, code):
        """A program of one function, where it is, and packets with its address."""
        prog = compile_c(self.dir, "prog", 'asm(".globl _start\\n_start: ' + code + '");',
                         "-nostdlib", "-static")
        start = struct.unpack_from("<Q", prog.read_bytes(), 24)[0]
        fup, tip = (bytes([op]) + struct.pack("<Q", start)[:6] for op in (0x7d, 0x6d))
        sync = b"\x02\x82" * 8 + b"\x99\x01" + fup + b"\x02\x23"
        return prog, start, sync, fup, tip

    def raw_addresses(self, trace, prog):
        (self.dir / "pt").write_bytes(trace)
        return self.run_hwt("script", "--raw", "pt", "--map", prog, "--insns", "-F", "ip",
                            status=3)

    def test_overflow(self):
        """What the unit lost is a counted gap; what is around it comes."""
        prog, start, sync, fup, tip = self.raw_program("jmp *%rax")
        lost = b"\x02\xf3" + fup
        done = self.raw_addresses(sync + tip * 2 + lost + tip + lost + tip * 3 + fup + b"\x01",
                                  prog)
        self.assertEqual(done.stdout.split("\n").count(f"{start:x}"), 6)
        self.one_line(done, "2 gaps [2 x the trace unit lost data (overflow)]")

    def test_damaged_bit(self):
        """A return whose bit is flipped: an error with its place, and on from a sync point."""
        prog, start, sync, fup, tip = self.raw_program("call 1f\\n nop\\n1: ret")
        done = self.raw_addresses(sync + b"\x04" + tip + sync + tip + fup + b"\x01", prog)
        self.assertEqual([line for line in done.stdout.split() if ADDRESS.match(line)],
                         [f"{start:x}", f"{start:x}", f"{start + 6:x}"])
        self.one_line(done, "1 error", "bit not taken", f"offset {len(sync):#x}",
                      f"address {start + 6:x}")


class Binaries(Case):
    """Programs that are gone or others by the time of decoding."""

    SOURCE = "int f(int n) { return n * %d; } int main(int c, char **v) { return f(c - 1); }"

    def test_missing(self):
        prog = compile_c(self.dir, "prog", self.SOURCE % 3)
        self.record(prog)
        prog.unlink()
        done = self.run_hwt("info", "--json", status=3)
        self.assertIn("prog", done.stderr)
        summary = json.loads(done.stdout)["summary"]
        self.assertGreater(summary["instructions"], 10000)  # ld.so and libc are there
        self.assertGreater(summary["gaps"], 0)

    def test_deleted_while_traced(self):
        """The program and its library go; a child and the parent run on."""
        source = """#include <dlfcn.h>
            #include <sys/wait.h>
            #include <unistd.h>
            int main(int argc, char **argv) {
                void *lib = dlopen(argv[1], RTLD_NOW);
                int (*f)(int) = dlsym(lib, "f");
                unlink(argv[0]); unlink(argv[1]);
                if (!fork()) _exit(f(3));
                wait(0); return f(4); }"""
        prog = compile_c(self.dir, "gone", source)
        lib = compile_c(self.dir, "lib.so", "int f(int n) { return n ? n + f(n - 1) : 0; }",
                        "-shared", "-fPIC")
        self.record("--follow", prog, lib, status=10)
        self.assertFalse(prog.exists() or lib.exists())
        facts = self.info()
        self.assertEqual(len(facts["threads"]), 2)
        for thread in facts["threads"]:
            self.assertEqual(thread["summary"]["verdict"], "complete", thread)
        done = self.run_hwt("report")
        self.assertEqual(len(done.stderr.splitlines()), 2, done.stderr)
        for path in (prog, lib):
            self.assertIn(f"{path}: not found; its code is in the recording, but not its names",
                          done.stderr)

    def test_changed(self):
        prog = compile_c(self.dir, "prog", self.SOURCE % 3)
        self.record(prog)
        prog.unlink()
        compile_c(self.dir, "prog", "#include <stdio.h>\n" + self.SOURCE % 5)
        done = self.run_hwt("info", status=3)
        self.assertRegex(done.stderr, "prog.*(build-id|differ|changed)")


class Output(Case):
    @classmethod
    def setUpClass(cls):
        cls.shared = pathlib.Path(tempfile.mkdtemp(prefix="hwt-cli."))
        cls.data = cls.shared / "hwt.data"
        done = hwt("record", "-o", cls.data, "ls", "/")
        assert done.returncode == 0, done.stderr
        cls.summary_line = done.stderr
        cls.facts = json.loads(hwt("info", "--json", "-i", cls.data).stdout)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.shared)

    def lines(self, *args):
        return self.run_hwt(*args, "-i", self.data).stdout.splitlines()

    def test_record_sums_up_on_stderr(self):
        self.assertRegex(self.summary_line, r"^hwt record: .*hwt\.data: .* of trace, "
                         r"1 thread in 1 process, 0 B lost, 0 gaps, .*\n$")

    def test_instructions_are_bare_addresses(self):
        lines = self.lines("script", "--insns", "-F", "ip")
        self.assertEqual(len(lines), self.facts["summary"]["instructions"])
        self.assertTrue(all(ADDRESS.match(line) for line in lines))
        slow = self.lines("script", "--insns", "-F", "ip,tid")
        self.assertEqual([line.split()[1] for line in slow], lines)

    def test_branches(self):
        rows = [json.loads(line) for line in self.lines("script", "--json")]
        kinds = {"jcc", "not-taken", "jmp", "call", "jmp-ind", "call-ind", "ret", "syscall",
                 "far"}
        count = sum(row["type"] in kinds for row in rows)
        self.assertEqual(count, self.facts["summary"]["branches"])
        self.assertEqual(rows[-1]["type"], "summary")
        self.assertEqual(rows[-1]["summary"], self.facts["summary"])

    def test_report_adds_up(self):
        report = json.loads(self.run_hwt("report", "--json", "-i", self.data).stdout)
        self.assertEqual(sum(f["self"] for f in report["functions"]),
                         self.facts["summary"]["instructions"])
        names = [f["name"] for f in report["functions"]]
        self.assertIn("malloc", names)
        calls = json.loads(self.run_hwt("calls", "--json", "-i", self.data).stdout)
        self.assertEqual(report["times_are_coarse"], calls["times_are_coarse"])

    def test_times(self):
        """Without any, finer ones are not what is missing."""
        for option, words in (("--no-tsc", "there are no times"), ("--tsc", "coarse"),
                              ("--cyc", "")):
            self.record(option, "-o", "t.data", "true")
            told = self.run_hwt("calls", "-i", "t.data").stdout
            self.assertIn(words or "# thread", told)
            self.assertEqual(bool(words), " times" in told, told)

    def test_calls_add_up(self):
        calls = json.loads(self.run_hwt("calls", "--json", "-i", self.data).stdout)
        nodes = calls["threads"][0]["calls"]
        self.assertEqual(sum(n.get("self", 0) for n in nodes),
                         self.facts["summary"]["instructions"])
        self.assertTrue(all(b["depth"] <= a["depth"] + 1 for a, b in zip(nodes, nodes[1:])))

    def test_text_of_all(self):
        for args in (["report"], ["calls"], ["script"], ["script", "--calls"], ["dump"],
                     ["dump", "--bytes"], ["info"], ["info", "--no-decode"],
                     ["report", "--children", "-n", "3", "--percent", "1"],
                     ["calls", "--depth", "2", "-n", "5"]):
            self.assertTrue(self.lines(*args), args)

    def test_packets_cover_every_byte(self):
        rows = [json.loads(line) for line in self.lines("dump", "--json", "--bytes")]
        at = 0
        for row in rows:
            self.assertEqual(len(row["bytes"]), 2 * row["length"])
            self.assertEqual(row["type"], "packet")
            self.assertEqual(row["offset"], at)
            at += row["length"]
        self.assertEqual(at, self.facts["summary"]["bytes"])
        self.assertEqual(rows[0]["name"], "PSB")
        self.assertEqual(rows[0]["bytes"], "0282" * 8)

    def test_what_contradicts_itself(self):
        for args, word in ((["script", "--branches", "--insns"], "--branches"),
                           (["script", "-i", self.data, "-i", "other"], "twice"),
                           (["script", "-F", "ip,addr", "-i", self.data], "samples"),
                           (["report", "--by", "source", "-i", self.data], "samples")):
            self.one_line(self.run_hwt(*args, status=1), word)

    def test_export_needs_the_kernel(self):
        """Of threads there is nothing to lay out; and nothing is left behind."""
        done = self.run_hwt("export", "-i", self.data, "folder", status=1)
        self.one_line(done, "no kernel code")
        self.assertEqual(list(self.dir.iterdir()), [])
        self.one_line(self.run_hwt("export", status=1), "FOLDER")

    def test_list(self):
        listed = json.loads(self.run_hwt("list", "--json").stdout)
        self.assertEqual(listed["backends"][0]["name"], "pt")
        self.assertEqual(listed["backends"][0]["address_ranges"], 4)
        units = {b["name"]: b for b in listed["backends"]}
        self.assertEqual(set(units), {"pt", "coresight", "spe"})
        self.assertIn("address filters", units["pt"]["features"])
        if shutil.which("qemu-aarch64"):
            self.assertIn("return stack", units["coresight"]["features"])
            self.assertIn("latency filter", units["spe"]["features"])
            self.assertEqual(units["coresight"]["address_ranges"], 4)
        others = listed["other_hosts"]
        self.assertEqual([h["host"] for h in others + [listed]].count("kernel"), 1)
        self.assertTrue(all("problem" in h or h["backends"] for h in others))

    def test_completion_is_a_script(self):
        script = self.run_hwt("help", "--completion").stdout
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)
        words = subprocess.run(
            ["bash", "-c", script + "\nCOMP_WORDS=(hwt record --no-); COMP_CWORD=2; _hwt; "
             "echo ${COMPREPLY[@]}"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(words.split(), ["--no-retcomp", "--no-tsc", "--no-jitter",
                                         "--no-events"])


class Snapshots(Case):
    """Arm's snapshot folders of two ETMs, of which one has a sync point in the buffer."""

    def setUp(self):
        super().setUp()
        registers = "TRCIDR0=0x280002a1\nTRCIDR1=0x4100f433\nTRCIDR2=0x488"
        devices = {f"d{n}.ini": f"[device]\nname=ETM_{n}\nclass=trace_source\ntype=ETM4\n"
                                f"[regs]\nTRCTRACEIDR={id:#x}\n{registers}\n"
                   for n, id in enumerate((0x10, 0x14))}
        self.write("snapshot.ini", "[device_list]\ndevice0=d0.ini\ndevice1=d1.ini\n"
                                   "[trace]\nmetadata=trace.ini\n")
        self.write("trace.ini", "[trace_buffers]\nbuffers=buffer0\n[buffer0]\nname=ETB\n"
                                "file=trace.bin\nformat=coresight\n[source_buffers]\n"
                                "ETM_0=ETB\nETM_1=ETB\n")
        for name, text in devices.items():
            self.write(name, text)
        # Frames of ID 0x10: an A-sync behind a zero, then a trace info; the rest is ID 0's.
        frames = bytes([0x21] + [0] * 12 + [0x80, 1, 0]) + bytes([0x21, 1, 0, 0, 1] + [0] * 10 + [2])
        (self.dir / "trace.bin").write_bytes(frames)
        if "without OpenCSD" in hwt("info", self.dir).stderr:
            self.skipTest("hwt was built without OpenCSD")

    def write(self, name, text):
        (self.dir / name).write_text(text)

    def snapshot(self, command, *args, status):
        return self.run_hwt(command, *args, "-i", ".", status=status)

    def test_bytes_by_trace_id(self):
        told = json.loads(self.snapshot("info", "--json", status=3).stdout)
        self.assertEqual([(t["trace_id"], t["bytes"], t["summary"]["bytes"])
                          for t in told["threads"]], [("10", 16, 16), ("14", 0, 0)])
        self.assertEqual(told["summary"]["bytes"], 32)
        text = self.snapshot("info", status=3).stdout
        self.assertEqual(text.count("nothing in its buffer has its trace ID, 0x14"), 1)
        self.assertEqual(text.count("nothing in its buffer"), 1)
        text = self.snapshot("info", "--no-decode", status=0).stdout
        self.assertEqual(text.count("32 bytes of trace with that of others"), 2)


    def test_trace_id_of_another(self):
        device = (self.dir / "d1.ini").read_text()
        self.write("d1.ini", device.replace("0x14", "0x10"))
        self.one_line(self.snapshot("info", status=1), "d1.ini: has ETM_0's TRCTRACEIDR: 0x10")

    def test_dump_of_nothing(self):
        """One line, and the status of other commands, in text and JSON."""
        self.assertIn("I_ASYNC", self.snapshot("dump", status=0).stdout)
        (self.dir / "trace.bin").write_bytes(bytes(64))
        for option in ([], ["--json"]):
            done = self.snapshot("dump", *option, status=3)
            self.one_line(done, "there is not one packet in its trace")
            self.assertEqual(len(self.snapshot("info", *option, status=3).stderr.splitlines()), 1)
        (self.dir / "trace.bin").write_bytes(b"")
        self.one_line(self.snapshot("dump", status=3), "there is not one packet in its trace")


class HostileNames(Case):
    LONG = "x" * 70000
    # Put in place of what the assembler takes; the same lengths.
    PATCHES = {b"new_line_name": b"new\nline\tname", b"escape_name": b"\x1b[2J\r  name",
               b"not_utf8_name": b"not\xff\xc0utf8name", b"quoted_name": b'quo"\\_na\'me',
               b"other_marks": b"; = +0x10 a", b"latin_name": "caf\u00e9 name".encode()}

    def build(self):
        names = [n.decode() for n in self.PATCHES] + [self.LONG]
        body = "".join(f'.globl "{n}"\n.type "{n}",@function\n"{n}":\n ret\n'
                       f'.size "{n}", . - "{n}"\n' for n in names)
        calls = "".join(f'call "{n}"\n' for n in names)
        (self.dir / "s.s").write_text(
            f".text\n{body}.globl _start\n_start:\n{calls}mov $60,%eax\nxor %edi,%edi\n"
            "syscall\n", encoding="utf-8")
        subprocess.run(["cc", "-nostdlib", "-static", "-o", "plain", "s.s"], cwd=self.dir,
                       check=True)
        image = (self.dir / "plain").read_bytes()
        for name, other in self.PATCHES.items():
            assert len(name) == len(other) and image.count(name) == 1
            image = image.replace(name, other)
        prog = self.dir / 'pro"g\n'
        prog.write_bytes(image)
        prog.chmod(0o755)
        return prog

    def test_all_output(self):
        self.record(self.build(), "ar'g\"")
        for args in (["report"], ["calls"], ["info"]):
            json.loads(self.run_hwt(*args, "--json").stdout)
        for args in (["script"], ["script", "--calls"], ["script", "--insns"], ["dump"]):
            for line in self.run_hwt(*args, "--json").stdout.splitlines():
                json.loads(line)
        for args in (["report"], ["calls"], ["script"], ["info"]):
            text = self.run_hwt(*args).stdout
            self.assertNotIn("\033", text)
            self.assertNotIn("\r", text)
        report = json.loads(self.run_hwt("report", "--json").stdout)
        names = {f["name"] for f in report["functions"]}
        self.assertLessEqual({'quo"\\_na\'me', self.LONG, "new\nline\tname", "; = +0x10 a"}, names)
        self.assertIn("not\ufffd\ufffdutf8name", names)


class Recording(Case):
    def test_follow(self):
        done = self.record("--follow", "bash", "-c", "/bin/true; /bin/echo hi | cat; (exit 3)",
                           status=3)
        self.assertEqual(done.stdout, "hi\n")
        facts = self.info()
        self.assertEqual(len({t["pid"] for t in facts["threads"]}), 5)
        self.assertEqual(facts["summary"]["errors"], 0)

    def test_no_follow(self):
        self.record("bash", "-c", "/bin/true; /bin/echo hi")
        self.assertEqual(len(self.info()["threads"]), 1)

    THREADS = """
        #include <pthread.h>
        #include <sys/prctl.h>
        static void *f(void *p) { return p ? (void *)(long)prctl(PR_SET_NAME, "worker") : 0; }
        int main(void)
        {
            pthread_t a, b;
            pthread_create(&a, 0, f, 0);
            pthread_create(&b, 0, f, &a);
            return pthread_join(a, 0) | pthread_join(b, 0);
        }
        """

    def test_names(self):
        """As the kernel has them: of what was executed, links and scripts; inherited."""
        compile_c(self.dir, "prog", self.THREADS, "-pthread")
        (self.dir / "a,link").symlink_to("prog")
        (self.dir / "a-script-of-a-long-name").write_text("#!/bin/sh\n'./a,link'\nexit 0\n")
        (self.dir / "a-script-of-a-long-name").chmod(0o755)
        self.record("--follow", "./a-script-of-a-long-name")
        threads = self.info()["threads"]
        self.assertEqual(sorted(t["comm"] for t in threads),
                         ["a,link", "a,link", "a-script-of-a-l", "worker"])
        if not shutil.which("perf"):
            return
        done = subprocess.run(["perf", "script", "-i", "hwt.data", "--itrace=i10i", "-F",
                               "comm,tid"], cwd=self.dir, capture_output=True, text=True,
                              check=True)
        theirs = {line.split()[1]: line.split()[0] for line in done.stdout.splitlines()}
        self.assertEqual(theirs, {str(t["tid"]): t["comm"] for t in threads})

    def test_ring_keeps_the_end(self):
        self.record("--ring=16K", "bash", "-c",
                    "for ((i = 0; i < 1000; i++)); do :; done; kill -SEGV $$", status=139)
        facts = self.info(status=3)
        thread = facts["threads"][0]
        self.assertLessEqual(thread["bytes"], 16384)
        self.assertEqual(facts["summary"]["errors"], 0)
        self.assertGreater(facts["summary"]["instructions"], 0)

    def test_filter_counts_every_call(self):
        source = """
            __attribute__((noinline)) int f(int n) { return n * 3 + 1; }
            __attribute__((noinline)) int g(int n) { return f(n) + f(n + 1); }
            int main(void) { int i, s = 0; for (i = 0; i < 1000; i++) s += g(i) + f(i);
                             return s == 0; }"""
        prog = compile_c(self.dir, "prog", source, "-fno-inline", "-fno-ipa-icf")
        self.record("-f", "f", prog)
        report = json.loads(self.run_hwt("report", "--json").stdout)
        functions = {f["name"]: f for f in report["functions"]}
        self.assertEqual(set(functions), {"f"})
        self.assertEqual(functions["f"]["calls"], 3000)

    def test_function_that_is_not_there(self):
        self.one_line(self.record("-f", "nosuch", "/bin/true"),
                      "the program /bin/true: there is no function nosuch in it")

    def test_filter_that_is_never_met(self):
        done = self.record("-i", "libnosuch.so", "-f", "f", "true")
        self.one_line(done, "libnosuch.so", "never loaded")
        done = self.record("-i", "libc.so.6", "-f", "no_such_function", "true")
        self.one_line(done, "libc.so.6", "no_such_function")

    def test_options_of_the_unit(self):
        plain = self.addresses()
        for options in (["--no-retcomp"], ["--mtc", "--cyc"], ["--psb", "0"],
                        ["--psb", "5", "--no-tsc"], ["-b", "12288"], ["--cyc=5", "--mtc=0"]):
            self.assertEqual(self.addresses(*options), plain, options)

    def addresses(self, *options):
        self.record(*options, "/bin/true")
        lines = self.run_hwt("script", "--insns", "-F", "ip").stdout
        # Environment and stack contents do not change between the runs.
        return len(lines.splitlines())

    def test_many_threads_one_after_another(self):
        source = """#include <pthread.h>
            static void *f(void *p) { return p; }
            int main(void) { pthread_t t; int i;
                for (i = 0; i < 300; i++) { pthread_create(&t, 0, f, 0);
                                            pthread_join(t, 0); } return 0; }"""
        prog = compile_c(self.dir, "prog", source, "-pthread")
        self.record(prog)
        facts = self.info()
        self.assertEqual(len(facts["threads"]), 301)
        self.assertTrue(all(t["summary"]["instructions"] for t in facts["threads"]))

    def test_disk_full(self):
        small = self.dir / "small"
        small.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "x", small],
                          check=False, capture_output=True).returncode:
            self.skipTest("no tmpfs can be mounted")
        self.addCleanup(subprocess.run, ["umount", small], check=False)
        done = self.record("-o", small / "d", "bash", "-c",
                           "for ((i = 0; i < 30000; i++)); do :; done; echo end", status=125)
        self.assertEqual(done.stdout, "end\n")
        self.one_line(done, "No space left on device")
        facts = hwt("info", "--json", "-i", small / "d")
        self.assertEqual(facts.returncode, 3)
        self.one_line(facts, "could not write")
        self.assertGreater(json.loads(facts.stdout)["summary"]["instructions"], 1000)
        self.assertEqual(json.loads(facts.stdout)["summary"]["verdict"], "cut")


@unittest.skipUnless(os.environ.get("HWT_TEST_FULL"), "only with HWT_TEST_FULL=1")
class Full(Case):
    """What takes long: in make check-full."""

    LOOP = "SECONDS=0; while [ $SECONDS -lt 3 ]; do :; done"

    def test_5000_threads(self):
        source = """#include <pthread.h>
            static void *f(void *p) { return p; }
            int main(void) { pthread_t t; int i;
                for (i = 0; i < 5000; i++) { pthread_create(&t, 0, f, 0);
                                             pthread_join(t, 0); } return 0; }"""
        self.record(compile_c(self.dir, "prog", source, "-pthread"))
        facts = self.info()
        self.assertEqual(len(facts["threads"]), 5001)
        self.assertEqual(facts["summary"]["lost_bytes"], 0)

    def readable(self):
        """By hwt and by perf, up to where the writer was stopped: before any trace?"""
        done = hwt("info", "--json", cwd=self.dir)
        if "no trace" in done.stderr:
            return 0
        self.assertIn(done.returncode, (0, 3), done.stderr)
        summary = json.loads(done.stdout)["summary"]
        self.assertEqual(summary["errors"], 0, done.stderr)
        if shutil.which("perf"):
            perf = subprocess.run(["perf", "script", "-i", "hwt.data", "--itrace=i1000i",
                                   "-F", "ip"], cwd=self.dir, capture_output=True,
                                  check=False)
            self.assertEqual(perf.returncode, 0, perf.stderr)
        return summary["instructions"]

    def test_hwt_killed_at_20_moments(self):
        seen = 0
        for moment in range(20):
            when = 0.05 + moment * 0.05
            with subprocess.Popen([HWT, "record", "-q", "bash", "-c", self.LOOP],
                                  cwd=self.dir) as process:
                if moment > 9:
                    self.until_recorded(process)
                time.sleep(when)
                process.kill()
            if (self.dir / "hwt.data").exists():
                seen = max(seen, self.readable())
                (self.dir / "hwt.data").unlink()
        self.assertGreater(seen, 1000000)

    def test_target_killed_at_20_moments(self):
        seen = 0
        for moment in range(20):
            when = 0.05 + moment * 0.05
            with subprocess.Popen([HWT, "record", "-q", "bash", "-c",
                                   f"(sleep {when}; kill -KILL $$) & " + self.LOOP],
                                  cwd=self.dir) as process:
                self.assertEqual(process.wait(60), 137)
            seen = max(seen, self.readable())
            self.assertTrue(self.info_complete())
        self.assertGreater(seen, 1000000)

    def info_complete(self):
        done = hwt("info", "--json", cwd=self.dir)
        return json.loads(done.stdout)["recording"]["complete"]


class Hwt8(Case):
    """hwt(8)'s own form."""

    def test_listing(self):
        done = self.run_hwt("/usr/bin/uname")
        self.assertTrue(done.stdout.startswith("Linux\n"))
        rows = [line.split("\t") for line in done.stdout.splitlines()[1:]]
        self.assertTrue(all(len(row) == 5 for row in rows))
        self.assertTrue(rows[0][0].startswith("thr "))

    def test_columns_to_a_file(self):
        self.run_hwt("-g", "-o", "offset,pc", "-w", "list", "/usr/bin/uname")
        rows = (self.dir / "list").read_text().splitlines()
        self.assertTrue(all(re.match(r"^0x?[0-9a-f]*\t0x?[0-9a-f]*$", r) for r in rows))

    def test_to_a_full_device(self):
        self.one_line(self.run_hwt("-w", "/dev/full", "/usr/bin/uname", status=1),
                      "hwt: /dev/full: No space left on device")

    def test_raw_of_one_thread(self):
        compile_c(self.dir, "prog", Recording.THREADS, "-pthread")
        done = self.run_hwt("-r", "-w", "trace.out", "./prog")
        self.one_line(done, "trace.out: the trace of one of 3 threads; -t says which")

    def test_raw(self):
        done = self.run_hwt("-r", "-w", "trace.out", "/usr/bin/uname")
        self.assertEqual(done.stderr, "")
        self.assertTrue((self.dir / "trace.out").read_bytes().startswith(b"\x02\x82" * 8))
        done = self.run_hwt("script", "--raw", "trace.out", status=3)
        self.assertIn("pass it by --map ELF[@ADDR]", done.stderr)
        self.assertIn("no code at this address", done.stdout)
        done = self.run_hwt("dump", "--raw", "trace.out")
        self.assertEqual(done.stderr, "")
        self.assertIn("TIP.PGE", done.stdout)

    def test_filter(self):
        done = self.run_hwt("-i", "libc.so.6", "-f", "getenv", "-o", "symbol", "-g",
                            "/usr/bin/uname")
        symbols = {line.split("+")[0] for line in done.stdout.splitlines()[1:]}
        self.assertIn("getenv", symbols)

    def test_status(self):
        self.run_hwt("sh", "-c", "exit 4", status=4)
        self.run_hwt("/no/such", status=127)


if __name__ == "__main__":
    if not shutil.which("qemu-x86_64"):
        print("qemu-x86_64 is not installed")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
