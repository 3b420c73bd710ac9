# SPDX-License-Identifier: BSD-2-Clause
"""Boots Debian's kernel under QEMU with the modules, the virtual trace unit and
programs of ours, runs a script in it and brings back what it wrote.

    guest = vm.Guest(build)            # builds the modules; Skip where it cannot
    guest = vm.Guest(build, arch="aarch64")
    guest.add("/path/to/program")      # into /bin of the guest, with its libraries
    run = guest.boot("insmod /lib/modules/hwt.ko && program > /out/result")
    run.status, run.console, run.out   # the script's exit status, text, a folder

The guest's root is a RAM disk with busybox; the script runs as root under sh -e,
/out is a folder of the host's (9p).  The kernel comes from /boot, or else from
Debian's package, unpacked under BUILD/kernel; another architecture's from
tools/fetch-kernel.
"""
import atexit
import ctypes
import fcntl
import lzma
import os
import pathlib
import platform
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SKIP = 77
# In the order of their loading; what 9p needs.
SHARE_MODULES = ["drivers/virtio/virtio_ring", "drivers/virtio/virtio",
                 "drivers/virtio/virtio_pci_legacy_dev",
                 "drivers/virtio/virtio_pci_modern_dev", "drivers/virtio/virtio_pci",
                 "fs/netfs/netfs", "fs/fscache/fscache", "net/9p/9pnet",
                 "net/9p/9pnet_virtio", "fs/9p/9p"]
# And what tests load besides.
MODULES = [*SHARE_MODULES, "drivers/net/dummy"]
WINDOW_SIZE = 4 << 20  # vtu/window.h: header and blocks of 64 KiB, a power of two
RAM = "1G"

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm /tmp /run; chmod 1777 /tmp /dev/shm
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
echo 1 > /proc/sys/kernel/panic_on_oops
for m in {modules}; do insmod /lib/modules/$m.ko || echo "insmod $m failed"; done
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 out /out || echo "no /out"
sh -e /script > /out/.log 2>&1 < /dev/null
echo $? > /out/.status
dmesg > /out/.dmesg
sync
poweroff -f
"""
# What a kernel says when something is wrong with it; WARN included.
COMPLAINT = re.compile(r"(BUG:|WARNING: CPU|Oops|general protection|Kernel panic|"
                       r"rcu: INFO|soft lockup|hung_task|blocked for more than|"
                       r"refcount_t:|slab.*corrupt|Bad page|unregister_netdevice)")


class Skip(Exception):
    """Something that this machine does not have."""


def run(command, **options):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, **options)


def die_with_parent():
    """QEMU must not outlive a test that was stopped."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def need(program):
    found = shutil.which(program)
    if not found:
        raise Skip(f"{program} is not installed")
    return found


class Machine:
    """What differs from one architecture to the next."""

    def __init__(self, debian, qemu, options, append, kbuild=()):
        self.debian = debian  # Debian's name of the architecture
        self.qemu = qemu
        self.options = options
        self.append = append  # to the kernel's command line
        self.kbuild = list(kbuild)


MACHINES = {
    "x86_64": Machine("amd64", "qemu-system-x86_64",
                      ["-cpu", "max", "-machine", "q35,memory-backend=ram"],
                      "console=ttyS0 no_timer_check"),
    # The architected algorithm of pointer authentication costs half of the time.
    "aarch64": Machine("arm64", "qemu-system-aarch64",
                       ["-cpu", "max,pauth-impdef=on",
                        "-machine", "virt,memory-backend=ram"], "console=ttyAMA0",
                       ["ARCH=arm64", "CROSS_COMPILE=aarch64-linux-gnu-"]),
}


class Kernel:
    """A kernel that can be booted, and its headers and modules."""

    def __init__(self, build, kdir, release):
        self.kdir = kdir  # where modules are built against
        self.release = release
        self.cache = pathlib.Path(build, "kernel", release).absolute()
        self.cache.mkdir(parents=True, exist_ok=True)
        self.root = None  # of its package's files
        self.image = None  # what QEMU starts

    def find_image(self):
        """What is in a bzImage, taken out once, where that can be; else as it is."""
        image = self.root / "boot" / f"vmlinuz-{self.release}"
        vmlinux = self.cache / "vmlinux"
        if vmlinux.exists() or extract_vmlinux(image, vmlinux):
            return vmlinux
        return image

    def module(self, name, root=None):
        """The module's file, or None: it is built in."""
        path = (root or self.root) / "lib/modules" / self.release / "kernel" / f"{name}.ko"
        return path if path.exists() else None


class OwnKernel(Kernel):
    """The one that fits the newest headers of this machine."""

    def __init__(self, build):
        kdir = find_headers()
        super().__init__(build, kdir, re.sub("^linux-headers-", "", kdir.name))
        with (self.cache / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.root = self.find_root()
            self.image = self.find_image()

    def find_root(self):
        """/, or where the package was unpacked."""
        for root in pathlib.Path("/"), self.cache / "root":
            if os.access(root / "boot" / f"vmlinuz-{self.release}", os.R_OK) and \
                    all(self.module(name, root) for name in MODULES):
                return root
        self.unpack()
        return self.cache / "root"

    def unpack(self):
        package = f"linux-image-{self.release}"
        try:
            run(["apt-get", "download", package], cwd=self.cache)
        except (OSError, subprocess.CalledProcessError):
            raise Skip(f"{package} cannot be downloaded") from None
        root = self.cache / "root"
        root.mkdir(exist_ok=True)
        members = [f"./boot/vmlinuz-{self.release}"] + \
            [f"./lib/modules/{self.release}/kernel/{m}.ko" for m in MODULES]
        for deb in self.cache.glob("*.deb"):
            with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(deb)],
                                  stdout=subprocess.PIPE) as tar:
                run(["tar", "-x", "-C", str(root), *members], stdin=tar.stdout)
            deb.unlink()


class FetchedKernel(Kernel):
    """What tools/fetch-kernel has of an architecture; suite: beside its release's."""

    def __init__(self, build, arch, suite=""):
        debian = MACHINES[arch].debian
        got = subprocess.run([str(SOURCE / "tools/fetch-kernel"), debian, suite],
                             text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             check=False)
        if got.returncode:
            raise Skip(got.stderr.strip().split("\n")[-1])
        root = pathlib.Path(got.stdout.strip())
        release = (root / "release").read_text().strip()
        super().__init__(build, root / "usr/src" / f"linux-headers-{release}", release)
        self.root = root
        self.image = self.find_image()


def kernel_for(build, arch):
    """This machine's own kernel, or the other architecture's."""
    if arch == platform.machine():
        return OwnKernel(build)
    return FetchedKernel(build, arch)


def find_headers():
    found = [d for d in pathlib.Path("/usr/src").glob("linux-headers-*")
             if (d / "Makefile").exists() and not d.name.endswith("-common")]
    if not found:
        raise Skip("no kernel headers: install linux-headers-amd64")
    return max(found, key=lambda d: [int(n) for n in re.findall(r"\d+", d.name)])


def extract_vmlinux(image, out):
    """The ELF inside a bzImage: QEMU starts it by its PVH entry, without unpacking.
    False: this is none, or its payload is not compressed with xz."""
    data = image.read_bytes()
    if data[0x202:0x206] != b"HdrS":  # Documentation/x86/boot.rst
        return False
    at = (data[0x1f1] + 1) * 512 + struct.unpack_from("<I", data, 0x248)[0]
    if not data.startswith(b"\xfd7zXZ\x00", at):
        return False
    elf = lzma.LZMADecompressor().decompress(data[at:])
    temporary = out.with_suffix(".new")
    temporary.write_bytes(elf)
    temporary.rename(out)
    return True


class Archive:
    """A RAM disk: cpio in the "newc" format."""

    def __init__(self):
        self.parts = []
        self.inode = 0
        self.folders = set()

    def entry(self, name, mode, data=b"", device=(0, 0)):
        self.inode += 1
        path = name.encode() + b"\0"
        fields = [self.inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(path), 0]
        head = b"070701" + b"".join(b"%08X" % f for f in fields) + path
        self.parts += [head, bytes(-len(head) % 4), data, bytes(-len(data) % 4)]

    def folder(self, name):
        name = name.strip("/")
        if name and name not in self.folders:
            self.folder(os.path.dirname(name))
            self.folders.add(name)
            self.entry(name, stat.S_IFDIR | 0o755)

    def file(self, name, data, mode=0o755):
        name = name.lstrip("/")
        self.folder(os.path.dirname(name))
        self.entry(name, stat.S_IFREG | mode, data)

    def finish(self, path):
        self.entry("TRAILER!!!", 0)
        path.write_bytes(b"".join(self.parts))


def needed(program):
    """Names of libraries and the dynamic linker's path, from the file itself."""
    listed = subprocess.run(["readelf", "-ldW", str(program)], text=True, check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return (re.findall(r"NEEDED.*\[(.*)\]", listed),
            re.findall(r"program interpreter: (.*)\]", listed))


def foreign_libraries(program, root):
    """What a dynamic linker of another architecture would load, from a tree of its
    packages: {path in the guest: file}."""
    found, look = {}, [program]
    folders = [d for d in (*root.glob("lib/*-linux-gnu"), *root.glob("usr/lib/*-linux-gnu"))]
    while look:
        names, linker = needed(look.pop())
        for path in linker:
            found[path.lstrip("/")] = (root / path.lstrip("/")).resolve()
        for name in names:
            file = next((d / name for d in folders if (d / name).exists()), None)
            if file is None:
                raise Skip(f"{root} has no {name}")
            where = f"lib/{file.parent.name}/{name}"
            if where not in found:
                found[where] = file.resolve()
                look.append(file)
    return found


def libraries(program):
    """What the dynamic linker would load, by ldd."""
    listed = subprocess.run(["ldd", str(program)], text=True, check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return {pathlib.Path(p) for p in re.findall(r"(/\S+) \(0x", listed.stdout)}


class Run:
    """What came out of a boot."""

    def __init__(self, out, console):
        self.out = out
        self.console = console
        self.log = self.text(".log")
        self.dmesg = self.text(".dmesg")
        status = self.text(".status").strip()
        self.status = int(status) if status else None

    def text(self, name):
        path = self.out / name
        return path.read_text(errors="replace") if path.exists() else ""

    def complaints(self):
        return [line for line in self.console.splitlines() if COMPLAINT.search(line)]

    def problem(self):
        """Why this boot failed, or None."""
        bad = self.complaints()
        if bad:
            return "the kernel complained: " + bad[0]
        if self.status is None:
            return "the guest did not come to its end"
        return f"the script ended with {self.status}" if self.status else None

    def check(self):
        """Exits with everything that was said if the boot failed."""
        problem = self.problem()
        if problem:
            print(self.console[-6000:])
            print("---- script")
            print(self.log[-6000:])
            sys.exit(problem)


class Guest:
    def __init__(self, build, arch="x86_64", kernel=None, kbuild=(), stage="kmod"):
        self.arch = arch
        self.machine = MACHINES[arch]
        if platform.machine() != "x86_64":
            raise Skip("guests are tested on x86-64 machines")
        self.qemu = need(self.machine.qemu)
        self.build = pathlib.Path(build).absolute()
        self.kernel = kernel or kernel_for(build, arch)
        self.files = {"bin/busybox": self.find_busybox()}
        self.modules = self.build_modules(list(kbuild), stage)
        self.cpus = 2
        # Of QEMU's for all CPUs, or "multi": one for each.  QEMU 7.2 then corrupts x86
        # kernel text that is patched while the other vCPU runs it.
        self.threads = "single"
        self.qemu_options = []
        self.plugin = None  # need_unit
        self.plugin_options = []
        self.log = False  # of all that the CPUs execute, into log/ of the output

    def find_busybox(self):
        if self.arch == platform.machine():
            return pathlib.Path(need("busybox"))
        return self.kernel.root / "bin/busybox"

    def build_modules(self, kbuild, stage):
        """Test builds lie apart from what make kmod builds, and have no types for
        BPF, which take pahole."""
        if self.arch != platform.machine():
            need(f"{self.arch}-linux-gnu-gcc")
        stage = self.build / "kernel" / self.kernel.release / stage
        built = subprocess.run([str(SOURCE / "tools/kmod"), str(stage),
                                str(self.kernel.kdir), *self.machine.kbuild, "HWT_TEST=y",
                                "CONFIG_DEBUG_INFO_BTF_MODULES=", *kbuild], text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, check=False)
        if built.returncode:
            sys.exit(built.stdout)
        self.kbuild_output = built.stdout
        return sorted((stage / "kmod").glob("*.ko"))

    def add_module(self, source):
        """A module of the tests' own, from its folder."""
        stage = self.kernel.cache / source.name
        shutil.rmtree(stage, ignore_errors=True)
        shutil.copytree(source, stage)
        built = subprocess.run(["make", "-C", str(self.kernel.kdir), f"M={stage}",
                                *self.machine.kbuild, "modules"], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               check=False)
        if built.returncode:
            sys.exit(built.stdout)
        self.modules += stage.glob("*.ko")

    def need_unit(self, kind=None):
        """The CPUs must have trace units: a plugin that knows machines.  kind: where
        they can be more than one."""
        self.plugin = os.environ.get("HWT_PLUGIN")
        if not self.plugin:
            raise Skip("the plugin was not built")
        if kind:
            self.plugin_options.append(f"unit={kind}")

    def add(self, program, name=None):
        """A program into the guest's /bin, and its libraries where they are here."""
        program = pathlib.Path(program).resolve()
        self.files[name or f"bin/{program.name}"] = program
        if self.arch != platform.machine():
            self.files.update(foreign_libraries(program, self.kernel.root))
            return
        for library in libraries(program):
            self.files[str(library).lstrip("/")] = library.resolve()

    def initrd(self, path, script):
        archive = Archive()
        for name in "proc", "sys", "dev", "out", "tmp", "etc", "lib/modules":
            archive.folder(name)
        share = [m for m in map(self.kernel.module, SHARE_MODULES) if m]
        names = [m.stem for m in share]
        archive.file("init", INIT.format(modules=" ".join(names)).encode())
        archive.file("script", script.encode())
        archive.file("etc/passwd", b"root:x:0:0::/:/bin/sh\nuser:x:1000:1000::/:/bin/sh\n"
                     b"other:x:1001:1001::/:/bin/sh\n")
        archive.file("etc/group", b"root:x:0:\nuser:x:1000:\nother:x:1001:\n")
        for module in share + self.modules:
            archive.file(f"lib/modules/{module.name}", module.read_bytes())
        for name, source in self.files.items():
            archive.file(name, source.read_bytes())
        archive.finish(path)

    def command(self, work, out, append):
        ram, window = work / "ram", work / "window"
        machine = ["-accel", f"tcg,thread={self.threads}", *self.machine.options, "-object",
                   f"memory-backend-file,id=ram,size={RAM},mem-path={ram},share=on"]
        if self.plugin:
            window.write_bytes(b"")
            os.truncate(window, WINDOW_SIZE)
            machine += ["-object", f"memory-backend-file,id=reg,size={WINDOW_SIZE},"
                        f"mem-path={window},share=on", "-device", "ivshmem-plain,memdev=reg"]
            options = [f"ram={ram}", f"reg={window}", *self.plugin_options]
            if self.log:
                (out / "log").mkdir()
                options.append(f"log={out / 'log'}")
            machine += ["-plugin", ",".join([self.plugin, *options])]
        return [self.qemu, *machine, *self.qemu_options,
                "-smp", str(self.cpus), "-m", RAM, "-nodefaults", "-no-user-config",
                "-display", "none", "-serial", "stdio", "-no-reboot",
                "-virtfs", f"local,path={out},mount_tag=out,security_model=none",
                "-kernel", str(self.kernel.image), "-initrd", str(work / "initrd"),
                "-append", f"{self.machine.append} quiet panic=-1 loglevel=5 {append}"]

    def boot(self, script, timeout=120, append="", keep=None):
        """keep (or HWT_VM_OUT): a folder for what the guest writes; else one that
        goes at exit."""
        with tempfile.TemporaryDirectory(prefix="hwt-vm-") as temporary:
            work = pathlib.Path(temporary)
            keep = keep or os.environ.get("HWT_VM_OUT")
            out = pathlib.Path(keep or tempfile.mkdtemp(prefix="hwt-out-")).absolute()
            out.mkdir(exist_ok=True)
            self.initrd(work / "initrd", script)
            with subprocess.Popen(self.command(work, out, append), text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, errors="replace",
                                  preexec_fn=die_with_parent) as qemu:
                try:
                    console, _ = qemu.communicate(timeout=timeout)
                except subprocess.TimeoutExpired:
                    qemu.kill()
                    console, _ = qemu.communicate()
                    console += f"\nstopped after {timeout} s\n"
            result = Run(out, console.replace("\r", ""))
            if not keep:
                atexit.register(shutil.rmtree, out, ignore_errors=True)
            return result


CROSS_FILE = """[binaries]
c = '{arch}-linux-gnu-gcc'
ar = '{arch}-linux-gnu-ar'
strip = '{arch}-linux-gnu-strip'
pkgconfig = 'pkg-config'
[properties]
sys_root = '{root}'
pkg_config_libdir = '{root}/usr/lib/{arch}-linux-gnu/pkgconfig'
[built-in options]
c_args = ['--sysroot={root}']
c_link_args = ['--sysroot={root}']
[host_machine]
system = 'linux'
cpu_family = '{arch}'
cpu = '{arch}'
endian = 'little'
"""


def cross_hwt(guest):
    """The command for the guest's architecture, linked with its tree's libraries."""
    for program in "meson", "ninja", f"{guest.arch}-linux-gnu-gcc":
        need(program)
    folder = guest.kernel.cache / "hwt"
    with (guest.kernel.cache / ".hwt.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cross = guest.kernel.cache / "cross.ini"
        cross.write_text(CROSS_FILE.format(arch=guest.arch, root=guest.kernel.root))
        if not (folder / "build.ninja").exists():
            shutil.rmtree(folder, ignore_errors=True)
            environment = {k: v for k, v in os.environ.items()
                           if k not in ("CC", "CXX", "CFLAGS", "LDFLAGS")}
            run(["meson", "setup", "--cross-file", str(cross), "-Dtests=disabled",
                 str(folder), str(SOURCE)], env=environment)
        built = subprocess.run(["ninja", "-C", str(folder), "cli/hwt"], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if built.returncode:
            sys.exit(built.stdout[-4000:])
    return folder / "cli/hwt"


def main(test):
    """Runs test(build, *arguments) from the command line: 77 for a Skip."""
    try:
        test(*sys.argv[1:])
    except Skip as skip:
        print(f"skipped: {skip}")
        sys.exit(SKIP)
