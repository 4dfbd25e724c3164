"""Runs a program on a pseudo-terminal of a given size and prints what it writes there.

on-terminal.py COLUMNSxROWS [TEXT COLUMNSxROWS]... -- PROGRAM [ARGUMENT]...

Once TEXT was written, the terminal gets the other size; the output has a line `RESIZED COLUMNSxROWS` in it there,
between two NUL characters.
"""

import fcntl, os, pty, struct, sys, termios


def size_of(text):
    columns, rows = text.split("x")
    return struct.pack("HHHH", int(rows), int(columns), 0, 0)


split = sys.argv.index("--")
first, changes, command = sys.argv[1], sys.argv[2:split], sys.argv[split + 1 :]
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, size_of(first))
    os.execvp(command[0], command)
seen = b""
while True:
    try:
        data = os.read(terminal, 65536)
    except OSError:
        data = b""
    if not data:
        break
    os.write(1, data)
    seen += data
    if changes and changes[0].encode() in seen:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, size_of(changes[1]))
        os.write(1, b"\0RESIZED " + changes[1].encode() + b"\0")
        seen, changes = b"", changes[2:]
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
