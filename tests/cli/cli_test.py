#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The command from outside, recording: statuses, messages, files.

usage: cli_test.py HWT [TEST...]
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

import cli_case
from cli_case import HWT, LIMIT, Case, compile_c, elf_header, hwt


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

    def test_folder_on_path(self):
        """A folder of the program's name, before it in PATH, is passed over."""
        (self.dir / "first" / "uname").mkdir(parents=True)
        path = f"{self.dir}/first:{os.environ['PATH']}"
        done = self.record("uname", env={**os.environ, "PATH": path, "HWT_PLUGIN": ""})
        self.assertEqual(done.stdout, "Linux\n")

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
    cli_case.main()
