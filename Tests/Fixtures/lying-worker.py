# A process between the supervisor and a real worker, whose program is the first argument. After a good probe it does what a broken worker might: what
# the name of the source says, or its last bytes.
import os, signal, socket, struct, subprocess, sys, time

us = socket.socket(fileno=0)
ours, theirs = socket.socketpair()
worker = subprocess.Popen([sys.argv[1], "__worker"], stdin=theirs)
theirs.close()

def receive(end):
    header, files, _, _ = socket.recv_fds(end, 4, 253)
    if not header:
        sys.exit(0)
    body = b""
    while len(body) < struct.unpack("<I", header)[0]:
        body += end.recv(65536)
    return body, files

def send(end, body, files=[]):
    socket.send_fds(end, [struct.pack("<I", len(body)) + body], files)

# Messages as MessageCoding.swift writes them: values one after the other, with the names of cases.
def number(value):
    return struct.pack("<q", value)

def text(value):
    return number(len(value)) + value

def case(name, *values):
    return text(name) + b"".join(values)

NO, NIL, NOTHING = b"\0", b"\0", number(0)

# What is said of a JPEG of eight bits in RGB.
def jpeg(width, height):
    return case(b"facts", text(b"jpeg"), number(width), number(height), number(1), number(1), NO, text(b"rgb"), text(b"eight"), NO, NIL, NO,
        NOTHING, number(9), NOTHING, NOTHING, NIL, NIL, NIL, NIL, NOTHING, NIL, NIL, NIL, NIL, NIL)

# What is said of renditions of these widths and heights.
def rendered(*sizes):
    return case(b"rendered", number(len(sizes)), *(number(width) + number(height) + number(1) + 4 * NIL for width, height in sizes), NOTHING, number(1))

def once(what):
    try:
        open(os.path.join(os.path.dirname(sys.argv[0]), what), "x")
        return True
    except FileExistsError:
        return False

# What a picture that has taken this worker over makes it do with the next ones: a word below.
evil = ""

while True:
    body, files = receive(us)
    asked = body[8:8 + struct.unpack("<q", body[:8])[0]]
    if asked == b"prepare" and b"tiny.png" in body:
        send(us, case(b"assets", number(1), number(0), number(9), number(0), NO, text(b"eight"), NOTHING, NO))
        continue
    if asked in (b"prepare", b"tryReading") and "refuser" in evil:
        send(us, case(b"cannotSave", text(b"avif"), text(b"so")) if asked == b"prepare" else case(b"readable", NO))
        continue
    if asked == b"probe":
        name = os.readlink("/proc/self/fd/%d" % files[0])
        with open(os.path.join(os.path.dirname(sys.argv[0]), "log"), "a") as log:
            print(os.path.basename(name), os.getpid(), os.path.dirname(name), file=log)
        word = os.path.basename(name).partition("evil-")[2].partition(".")[0]
        name, evil = evil or ("" if word else name), evil or word
        name += os.pread(files[0], 16, max(0, os.fstat(files[0]).st_size - 16)).decode("latin-1")
    if asked == b"render":
        if "poison" in name:
            sys.exit("cannot bear it")
        if "threadless" in name:
            # As one ends that the system gives no thread.
            os._exit(71)
        if "deadly" in name:
            os.kill(os.getpid(), signal.SIGSEGV)
        if "hungry" in name or "victim" in name and once("killed"):
            os.kill(os.getpid(), signal.SIGKILL)
        if "victim" in name:
            time.sleep(0.5)
        if "glutton" in name:
            memory = b"x" * ((700 if "greedy" in name else 400) << 20)
            time.sleep(0.5)
            del memory
        while "spinner" in name:
            pass
        if "babble" in name:
            send(us, b"{}")
            continue
        if "unread" in name and once("unread"):
            # As if a read had failed.
            send(us, case(b"failed", text(b"corrupt"), text(b"decode"), text(b"no data"), NIL))
            continue
        if "liar" in name:
            for file in files:
                os.close(file)
            send(us, rendered((32, 24)))
            continue
        if "miser" in name:
            send(us, rendered())
            continue
        if "beggar" in name:
            for index in range(100000):
                send(us, case(b"needsMember", number(index)))
        if "full" in name or "talker" in name:
            code, words = (b"disk-full", b"no room") if "full" in name else (b"corrupt", b"\033[31m" + b"x" * ((16 << 20) - 200))
            send(us, case(b"failed", text(code), text(b"save"), text(words), NIL))
            continue
    if asked == b"probe" and "sleeper" in name:
        time.sleep(600)
    if asked == b"probe" and ("huge" in name or "large" in name):
        # 400 million pixels, or 36 million.
        send(us, jpeg(20000, 20000) if "huge" in name else jpeg(6000, 6000))
        continue
    if asked == b"probe" and "giant" in name:
        send(us, jpeg(-5, 9))
        continue
    send(ours, body, files)
    late = asked == b"render" and "late" in name
    if not late:
        for file in files:
            os.close(file)
    send(us, receive(ours)[0])
    if late:
        # Long enough for a check, and for a rename.
        time.sleep(0.3)
        for file in files:
            os.pwrite(file, b"EVIL", 0)
