"""A filter of the Linux kernel on a listening socket, which drops new connections of one address.

A connection that is accepted and closed costs the server some 20 microseconds, and one client can make 20,000 a second.
One that the kernel drops costs it nothing, and the client tries again after a second.
"""

from __future__ import annotations

import ctypes
import ipaddress
import socket
import struct
import sys
from contextlib import suppress

ATTACH, DETACH = 26, 27  # SO_ATTACH_FILTER, SO_DETACH_FILTER
LOAD_BYTE, LOAD_WORD, AND, IF_EQUAL, RETURN = 0x30, 0x20, 0x54, 0x15, 0x06  # instructions of the packet filter
FLAGS, SYN = 13, 0x02  # the byte of a TCP header with its flags, and the only flag of a first packet
NETWORK_HEADER = 0xFFF00000  # SKF_NET_OFF: offsets from here count from the IP header
SOURCE = {4: 12, 6: 8}  # where that has its source, by version
DROP, PASS = 0, 0xFFFFFFFF  # bytes to keep


def drop_new(listening: socket.socket, address: str) -> bool:
    """Drop new connections from an address, of IPv6 from its network; False if the system cannot."""
    if sys.platform != "linux":
        return False
    code = ctypes.create_string_buffer(_program(address))
    count = (len(code) - 1) // 8  # without the zero at its end
    with suppress(OSError):
        listening.setsockopt(socket.SOL_SOCKET, ATTACH, struct.pack("HP", count, ctypes.addressof(code)))
        return True
    return False


def drop_none(listening: socket.socket) -> None:
    """Take the filter off."""
    with suppress(OSError):
        listening.setsockopt(socket.SOL_SOCKET, DETACH, 0)


def _program(address: str) -> bytes:
    """Drop a packet if it passes every test: the first of a connection, the version of IP, 4 or 8 bytes of source."""
    source = ipaddress.ip_address(address.partition("%")[0])
    source = getattr(source, "ipv4_mapped", None) or source
    first = NETWORK_HEADER + SOURCE[source.version]
    words = struct.unpack(">I" if source.version == 4 else ">II", source.packed[:8])
    lines = [
        (LOAD_BYTE, FLAGS),
        (IF_EQUAL, SYN),
        (LOAD_BYTE, NETWORK_HEADER),
        (AND, 0xF0),
        (IF_EQUAL, source.version << 4),
    ]
    for place, word in enumerate(words):
        lines += [(LOAD_WORD, first + 4 * place), (IF_EQUAL, word)]
    lines += [(RETURN, DROP), (RETURN, PASS)]
    last = len(lines) - 1
    return b"".join(  # a test that fails leads to the last line
        struct.pack("HBBI", what, 0, last - place - 1 if what == IF_EQUAL else 0, value)
        for place, (what, value) in enumerate(lines)
    )
