#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The command from outside, reading: what it shows of recordings, whole or not.

usage: cli_show_test.py HWT [TEST...]
"""
import json
import pathlib
import resource
import shutil
import struct
import subprocess
import tempfile

import cli_case
from cli_case import ADDRESS, HWT, LIMIT, Case, compile_c, hwt


class Damaged(Case):
    """Files that are none, or cut, or contradict themselves."""

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

    def test_more_files_than_descriptors(self):
        """Of a recording of many libraries: the soft limit is none."""
        self.record("ls")
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        done = self.run_hwt("info", preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_NOFILE, (6, hard)))
        self.assertIn("0 gaps, 0 errors: complete", done.stdout)

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


if __name__ == "__main__":
    cli_case.main()
