import ctypes
import os
import signal
import socket
import subprocess
import threading
import urllib.request

libc = ctypes.CDLL(None, use_errno=True)


def call(function, *arguments):
    """Calls a function of C; raises if the machine refuses it."""
    ctypes.set_errno(0)
    if getattr(libc, function)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), function)


def read(path):
    with open(path, "rb") as file:
        return file.read(1)


def write(path):
    with open(path, "ab") as file:
        file.write(b"x")


def main(args):
    """Attacks the jail of the process. Returns the names of the attacks that succeeded."""
    parent, folder = args["parent"], args["folder"]
    own = [path for path in ("/usr", os.path.dirname(os.__file__)) if os.path.isdir(path)]
    attacks = {
        "read a file of the system": lambda: read("/etc/passwd"),
        "read the parent's file": lambda: read(f"{folder}/canary"),
        "list the home folders": lambda: os.listdir("/home"),
        "list the processes": lambda: os.listdir("/proc"),
        "read the parent's environment": lambda: read(f"/proc/{parent}/environ"),
        "read its own memory": lambda: read("/proc/self/mem"),
        "reach the machine's devices": lambda: os.listdir("/sys"),
        "write the parent's file": lambda: write(f"{folder}/canary"),
        "write a file in the root": lambda: write("/written"),
        "write beside its interpreter": lambda: [write(f"{path}/written") for path in own],
        "change its input": lambda: write("/input/written"),
        "make a device": lambda: os.mknod("/tmp/device", 0o20666, os.makedev(1, 1)),
        "start a program": lambda: subprocess.run(["/bin/true"]),
        "start its interpreter": lambda: os.execv(os.sys.executable, [os.sys.executable, "-V"]),
        "start a process": lambda: os._exit(0) if os.fork() == 0 else None,
        "start a process in C": lambda: call("fork"),
        "start a thread": lambda: threading.Thread(target=print).start(),
        "connect by a socket": lambda: socket.create_connection(("127.0.0.1", args["tcp_port"]), 1),
        "make a socket in C": lambda: call("socket", 2, 1, 0),
        "make a local socket": lambda: socket.socketpair(),
        "make a raw socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1),
        "ask the cloud's metadata": lambda: urllib.request.urlopen("http://169.254.169.254/", timeout=1),
        "signal the parent": lambda: os.kill(parent, 0),
        "signal all": lambda: os.kill(-1, 0),
        "trace the parent": lambda: call("ptrace", 16, parent, 0, 0),
        "read the parent's memory": lambda: call("process_vm_readv", parent, None, 0, None, 0, 0),
        "outlive the parent": lambda: call("prctl", 1, 0, 0, 0, 0),
        "enter other namespaces": lambda: call("unshare", 0x10000000),
        "mount a file system": lambda: call("mount", b"tmpfs", b"/tmp", b"tmpfs", 0, None),
        "take a root of its own": lambda: os.chroot("/tmp"),
        "become another user": lambda: os.setuid(0),
        "raise its memory limit": lambda: raise_limit(),
        "slow the parent down": lambda: os.setpriority(os.PRIO_PROCESS, parent, 19),
    }
    return [name for name, attack in attacks.items() if succeeds(attack)]


def raise_limit():
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def succeeds(attack):
    try:
        attack()
        return True
    except Exception:
        return False
