"""Runs one program in the operator's CPython, in a jail that this file closes before the program begins.

The process comes here with its limits set, without privileges, and with its standard input and output as pipes of the
server. Nothing of the program has run until `close_jail` has returned.
"""

import base64
import ctypes
import fcntl
import hashlib
import io
import json
import os
import re
import resource
import signal
import stat
import struct
import sys
import threading
import zlib

order = json.loads(sys.argv[1])
kinds = order["kinds"]
folders = order["folders"]
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

CLONE = {"NEWNS": 0x20000, "NEWUTS": 0x4000000, "NEWIPC": 0x8000000, "NEWUSER": 0x10000000, "NEWNET": 0x40000000}
MS = {"RDONLY": 1, "NOSUID": 2, "NODEV": 4, "NOEXEC": 8, "REMOUNT": 32, "BIND": 4096, "REC": 16384, "PRIVATE": 1 << 18}
PR = {"SET_PDEATHSIG": 1, "SET_SECCOMP": 22, "CAPBSET_DROP": 24}
MNT_DETACH = 2
INPUT, OUTPUT, TEMPORARY, WORKSPACE = "/input", "/output", "/tmp", order["workspace"]
PARENT_SOCKET = 3
MEGABYTE = 2**20
# Memory in MB for the interpreter and its libraries, beside the program's own.
OWN_MEMORY = 192
# And for the answer of a program that has used up its own.
ANSWER_MEMORY = 64


def must(result, what):
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what} was refused: {os.strerror(ctypes.get_errno())}")
    return result


def mount(source, target, kind, flags, options=None):
    encode = lambda text: None if text is None else os.fsencode(text)
    result = libc.mount(encode(source), encode(target), encode(kind), ctypes.c_ulong(flags), encode(options))
    must(result, f"mounting {target}")


def enter_namespaces():
    """Creates a user, a network and a tree of mounts of its own: no socket of the machine is in them."""
    user, group = os.getuid(), os.getgid()
    flags = CLONE["NEWUSER"] | CLONE["NEWNS"] | CLONE["NEWNET"] | CLONE["NEWIPC"] | CLONE["NEWUTS"]
    must(libc.unshare(flags), "a user namespace")
    for name, text in (("setgroups", "deny"), ("uid_map", f"1000 {user} 1"), ("gid_map", f"1000 {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    name = b"sandbox"
    must(libc.sethostname(name, len(name)), "a host name")


def enter_root(readable):
    """Makes a root of the readable paths, each read-only, and of empty folders in memory."""
    sources = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in readable]
    links = [(path, os.readlink(path)) for path in ("/lib", "/lib64", "/lib32") if os.path.islink(path)]
    mount(None, "/", None, MS["REC"] | MS["PRIVATE"])
    root = "/tmp"
    mount("tmpfs", root, "tmpfs", MS["NOSUID"] | MS["NODEV"], "size=48m,nr_inodes=4096,mode=755")
    for path, target in links:
        os.symlink(target, root + path)
    for folder in (INPUT, TEMPORARY, "/mnt"):
        os.makedirs(root + folder, exist_ok=True)
    mount_memory(root + TEMPORARY, 64)
    # Afterwards, because the interpreter may be in the machine's own temporary folder.
    for path, source in sources:
        bind(source, root + path)
        os.close(source)
    os.chdir(root)
    must(libc.syscall(order["calls"]["pivot_root"], b".", b"."), "a root of its own")
    must(libc.umount2(b".", MNT_DETACH), "leaving the machine's root")
    os.chdir("/")


def mount_memory(folder, megabytes):
    options = f"size={megabytes}m,nr_inodes=32768,mode=755"
    mount("tmpfs", folder, "tmpfs", MS["NOSUID"] | MS["NODEV"] | MS["NOEXEC"], options)


def make_folder(program):
    """Makes the folder that the program writes to, under each of its names, and returns it."""
    folder, megabytes = (WORKSPACE, 96) if "shared" in program else (OUTPUT, 32)
    os.mkdir(folder)
    mount_memory(folder, megabytes)
    if folder != OUTPUT:
        os.symlink(folder, OUTPUT)
    os.symlink(folder, "/mnt/data")
    return folder


def bind(source, target):
    """Shows an open path at `target`, read-only. Flags that the machine has set for it must stay."""
    place = f"/proc/self/fd/{source}"
    if os.path.isdir(place):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    kept = os.statvfs(place).f_flag & (MS["NODEV"] | MS["NOEXEC"] | 1024 | 2048 | 4096)
    times = {1024: 1 << 10, 2048: 1 << 11, 4096: 1 << 21}
    flags = kept & 15 | sum(value for bit, value in times.items() if kept & bit)
    mount(place, target, None, MS["BIND"])
    mount(None, target, None, MS["BIND"] | MS["REMOUNT"] | MS["RDONLY"] | MS["NOSUID"] | flags)


def close_jail(program, folder):
    """Gives up everything that only the start needed."""
    mount(None, "/", None, MS["REMOUNT"] | MS["BIND"] | MS["RDONLY"] | MS["NOSUID"] | MS["NODEV"])
    for capability in range(64):
        libc.prctl(PR["CAPBSET_DROP"], capability, 0, 0, 0)
    must(libc.syscall(order["calls"]["capset"], struct.pack("=II", 0x20080522, 0), bytes(24)), "giving up privileges")
    die_with_parent()
    limit = data_bytes + (program["memory_mb"] + OWN_MEMORY) * MEGABYTE
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit + ANSWER_MEMORY * MEGABYTE))
    restrict_files(folder)
    code = base64.b64decode(order["filter"])
    instructions = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("=HxxxxxxQ", len(code) // 8, ctypes.addressof(instructions))
    must(libc.prctl(PR["SET_SECCOMP"], 2, header, 0, 0), "a filter of system calls")


def die_with_parent():
    """The machine ends this process if its parent dies, or closes its socket."""
    must(libc.prctl(PR["SET_PDEATHSIG"], int(signal.SIGKILL), 0, 0, 0), "the parent's death")
    fcntl.fcntl(PARENT_SOCKET, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(PARENT_SOCKET, order["calls"]["F_SETSIG"], int(signal.SIGKILL))
    fcntl.fcntl(PARENT_SOCKET, fcntl.F_SETFL, fcntl.fcntl(PARENT_SOCKET, fcntl.F_GETFL) | os.O_ASYNC)
    if os.getppid() != order["parent"]:
        os._exit(1)


def restrict_files(folder):
    """Landlock: everything can be read, only two folders be written, and nothing be executed."""
    abi = must(libc.syscall(444, None, 0, 1), "Landlock")
    rights = 0xFFFF if abi >= 5 else 0x7FFF if abi >= 3 else 0x3FFF if abi >= 2 else 0x1FFF
    execute, read = 1, 4 | 8
    attributes = struct.pack("=QQQ", rights, 3 if abi >= 4 else 0, 3 if abi >= 6 else 0)
    rules = must(libc.syscall(444, attributes, 24 if abi >= 6 else 16 if abi >= 4 else 8, 0), "Landlock")
    device = (1 << 6) | (1 << 11)
    for path, allowed in (("/", read), (folder, rights & ~execute & ~device), (TEMPORARY, rights & ~execute & ~device)):
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        must(libc.syscall(445, rules, 1, struct.pack("=Qi", allowed, place), 0), "Landlock")
        os.close(place)
    must(libc.syscall(446, rules, 0), "Landlock")
    os.close(rules)


def own_data_bytes():
    """Private memory of this process, which its limit counts."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmData"))


def send(kind, *parts):
    head = struct.pack("<BI", kinds[kind], sum(map(len, parts)))
    for part in (head, *parts):
        packet = memoryview(part)
        while packet:
            packet = packet[os.write(answers, packet) :]


def receive(length):
    content = bytearray()
    while len(content) < length:
        piece = os.read(0, length - len(content))
        if not piece:
            os._exit(0)
        content += piece
    return bytes(content)


def receive_program():
    """The head of a frame, and the bytes of the files and variables. Returns the program and its folder."""
    (length,) = struct.unpack("<I", receive(4))
    program = json.loads(receive(length))
    folder = make_folder(program)
    for file in program["files"]:
        lay_out(f"{INPUT}/{file['name']}", receive(file["size"]))
    for file in program.get("mounted", []):
        lay_out(file["name"], receive(file["size"]))
    shared = program.get("shared")
    if shared:
        for file in shared["files"]:
            # The bytes of an input file are sent only once.
            given = file.get("input")
            content = receive(file["size"]) if given is None else content_of(f"{INPUT}/{program['files'][given]['name']}")
            lay_out(f"{folder}/{file['name']}", content)
        if shared["variables"] is not None:
            lay_out(order["restored_file"], receive(shared["variables"]))
    return program, folder


def lay_out(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


class Printed(io.RawIOBase):
    """Sends what is printed, up to the limit."""

    def __init__(self, kind):
        self.kind, self.left, self.dropped = kind, order["printed_most"], False

    def writable(self):
        return True

    def write(self, content):
        piece = bytes(content[: self.left])
        self.dropped = self.dropped or len(piece) < len(content)
        self.left -= len(piece)
        if piece:
            send(self.kind, piece)
        return len(content)


def printer(kind):
    raw = Printed(kind)
    text = io.TextIOWrapper(io.BufferedWriter(raw, 4096), encoding="utf-8", errors="replace", line_buffering=True)
    return raw, text


class Clock:
    """Interrupts the program at its deadline, again and again if it catches that."""

    def __init__(self, timeout_ms):
        self.late = False
        signal.signal(signal.SIGALRM, self.interrupt)
        signal.setitimer(signal.ITIMER_REAL, timeout_ms / 1000, 0.1)

    def interrupt(self, number, frame):
        self.late = True
        raise KeyboardInterrupt

    def stop(self):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_IGN)


def collect():
    """Regular files in the folder of output, within the limits, and the number of those that are left out."""
    files, dropped, left = [], 0, order["output_most"]
    os.chmod(OUTPUT, 0o755)
    with os.scandir(OUTPUT) as entries:
        for entry in sorted(entries, key=lambda entry: in_order(entry.name)):
            name = entry.name.encode("utf-8", "surrogateescape")
            size = entry.stat(follow_symlinks=False).st_size
            content = None
            if entry.is_file(follow_symlinks=False) and size <= left and len(files) < order["files_most"]:
                content = content_of(entry.path, size) if is_plain(name) else None
            if content is None:
                dropped += 1
                continue
            left -= len(content)
            files.append((name, content))
    return files, dropped


def content_of(path, size=-1):
    try:
        with open(path, "rb") as file:
            return file.read(size)
    except OSError:
        return None


def in_order(path):
    """Sorts paths by their UTF-16 units, as the server does."""
    return path.encode("utf-16-be", "surrogatepass")


def left_in(folder):
    """Files below the folder as `(path, size)`, paths of what is none, and how many others there are."""
    files, refused, uncounted = [], [], 0
    waiting = [""]
    while waiting:
        inner = waiting.pop()
        os.chmod(f"{folder}/{inner}", 0o755)
        with os.scandir(f"{folder}/{inner}") as entries:
            for entry in entries:
                path = inner + entry.name
                facts = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(facts.st_mode):
                    files.append((path, facts.st_size))
                elif not stat.S_ISDIR(facts.st_mode):
                    refused.append(path)
                elif path.count("/") < limits["folders"]:
                    waiting.append(f"{path}/")
                else:
                    uncounted += 1
    return sorted(files, key=lambda file: in_order(file[0])), sorted(refused, key=in_order), uncounted


def path_fault(path):
    """Why a file with this path cannot be kept, as the rest of a sentence about it; None if it can."""
    try:
        name = path.encode("utf-8")
    except UnicodeEncodeError:
        return "has a name that is not valid Unicode"
    if "\ufffd" in path:
        return "has a name that is not valid Unicode"
    if re.search(r"[\\\x00-\x1f\x7f]", path):
        return "has a backslash or a control character in its name"
    if len(name) > limits["path_bytes"]:
        return f"has a path of more than {limits['path_bytes']} bytes"
    return None


def hash_of(path):
    found = hashlib.sha256()
    with open(path, "rb") as file:
        for piece in iter(lambda: file.read(MEGABYTE), b""):
            found.update(piece)
    return found.hexdigest()


def send_changes(folder, before):
    """Sends the changed files, and the paths of those that are gone. Returns the number of others, and a note on them.

    Above the limits, files that are as before are kept first, then the others in the order of their paths.
    """
    left, refused, uncounted = left_in(folder)
    known = {file["name"]: file for file in before}
    kept, changed, room = set(), [], limits["bytes"]
    dropped, faults = list(refused), ["is not a plain file"] if refused else []
    for path, size in left:
        os.chmod(f"{folder}/{path}", 0o644)
        file = known.get(path)
        if file is not None and file["size"] == size and hash_of(f"{folder}/{path}") == file["sha256"]:
            kept.add(path)
            room -= size
        else:
            changed.append((path, size))
    for path, size in changed:
        fault = path_fault(path)
        if fault is None and len(kept) >= limits["files"]:
            fault = f"is one of more than {limits['files']}"
        if fault is None and size > room:
            fault = f"exceeds the folder's {limits['bytes']} bytes"
        content = content_of(f"{folder}/{path}", size) if fault is None else None
        if content is None:
            fault = fault or "cannot be read"
            dropped.append(path)
            faults += [] if fault in faults else [fault]
            continue
        room -= len(content)
        kept.add(path)
        name = path.encode("utf-8")
        send("changed", struct.pack("<H", len(name)), name, content)
    removed = [path for path in known if path not in kept]
    if removed:
        send("removed", json.dumps(removed).encode())
    count = len(dropped) + uncounted
    return count, [dropped_note(count, dropped, faults)] if count > 0 else []


def dropped_note(count, names, faults):
    named = [json.dumps(name[:60].encode("utf-8", "replace").decode(), ensure_ascii=False) for name in names[:5]]
    more = " and others" if count > len(named) else ""
    reasons = "; ".join(faults) or "the folder is too deep or has too many entries"
    return f"{count} {'file was' if count == 1 else 'files were'} not kept ({reasons}): {', '.join(named)}{more}."


def is_shallow(text):
    """False if the JSON nests deeper than the server reads."""
    depth = 0
    # Without its texts, only brackets count.
    for character in re.sub(r'"(?:[^"\\]|\\.)*"', "", text):
        if character in "[{":
            depth += 1
            if depth > order["depth_most"]:
                return False
        elif character in "]}":
            depth -= 1
    return True


def is_plain(name):
    try:
        return all(character.isprintable() and character not in "/\\" for character in name.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def load_driver():
    """The functions of cpython-start.py and of the driver."""
    start = {"__name__": "start"}
    exec(compile(order["start"], "cpython-start.py", "exec"), start)
    modules = json.loads(zlib.decompress(base64.b64decode(order["modules"])))
    return start["start"], start["load"](order["driver"], modules)


def restore(driver):
    """Restores the variables of earlier programs. Returns notes for the model on those that are lost."""
    clock = Clock(order["variables_ms"])
    try:
        note = driver["restore"]()
    finally:
        clock.stop()
    return [note] if note else []


def save(driver):
    """Sends the variables. Returns the names of those that are lost, and notes for the model."""
    clock = Clock(order["variables_ms"])
    try:
        saved = json.loads(driver["save"](order["variables_most"]))
    finally:
        clock.stop()
    if saved["note"] is not None:
        return saved["lost"], [saved["note"]]
    content = content_of(order["saved_file"])
    if content is not None:
        send("variables", content)
    return saved["lost"], []


def run(program, folder, start, driver):
    arguments = program["arguments"]
    given = None if arguments is None else json.dumps(arguments)
    (out, sys.stdout), (err, sys.stderr) = printer("stdout"), printer("stderr")
    streams = sys.stdout, sys.stderr
    # There are no threads. matplotlib wants a timer, which only tells that something takes long.
    threading.Timer.start = lambda timer: None
    sys.argv = ["program.py"]
    os.chdir(folder)
    loads = json.loads
    clock = Clock(program["timeout_ms"])
    try:
        answer = loads(start(driver, program["code"], given, order["result_most"], order["message_most"]))
    except BaseException as error:
        answer = {"result": None, "code": "code_error", "message": f"The interpreter failed: {type(error).__name__}"}
    clock.stop()
    if clock.late and answer["code"] is not None:
        answer = {"result": None, "code": "code_timeout", "message": f"The program was ended after {program['timeout_ms']} ms."}
    if answer["result"] is not None and not is_shallow(answer["result"]):
        message = f"The result nests deeper than {order['depth_most']}."
        answer = {"result": None, "code": "code_output_too_large", "message": message}
    for stream in streams:
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
    return answer, out.dropped, err.dropped


def answer_with(answer, out_dropped, err_dropped):
    """Sends everything but the variables. Returns the last message for after those; None if it was sent."""
    most = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    shared = program.get("shared")
    files, dropped = ([], 0) if shared else collect()
    if answer["result"] is not None:
        send("result", answer["result"].encode("utf-8", "replace"))
    for name, content in files:
        send("file", struct.pack("<B", len(name)), name, content)
    error = None if answer["code"] is None else {"code": answer["code"], "message": answer["message"]}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    ended = {"error": error, "files_dropped": dropped, "peak_memory_mb": peak}
    ended.update({"stdout_truncated": out_dropped, "stderr_truncated": err_dropped})
    if shared:
        dropped, dropped_notes = send_changes(folder, shared["files"])
        ended["shared"] = {"dropped": dropped, "lost": [], "notes": notes + dropped_notes}
    saves = bool(shared and shared["saves_variables"])
    send("saving" if saves else "ended", json.dumps(ended).encode())
    return ended if saves else None


# The server's pipe is moved away, because code in C prints to the first file descriptors.
answers = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 50)
nowhere = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
for number in (1, 2):
    os.dup2(nowhere, number)
data_bytes = own_data_bytes()
enter_namespaces()
enter_root(folders)
send("ready")
limits = order["workspace_limits"]
program, folder = receive_program()
os.dup2(nowhere, 0)
close_jail(program, folder)
start, driver = load_driver()
has_variables = "shared" in program and program["shared"]["variables"] is not None
notes = restore(driver) if has_variables else []
send("started")
ended = answer_with(*run(program, folder, start, driver))
if ended:
    lost, saving_notes = save(driver)
    ended["shared"].update({"lost": lost[: limits["lost_names"]], "notes": ended["shared"]["notes"] + saving_notes})
    send("ended", json.dumps(ended).encode())
os._exit(0)
