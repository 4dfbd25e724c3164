import { endianness } from 'node:os';

/**
 * Ways around a sandbox that its namespaces leave open: the kernel's keys of a user, sockets to the host of a virtual
 * machine, and calls that make other calls unseen. Nothing that a build or a test needs.
 */
interface Machine {
  /** The kernel's name for it. */
  readonly audit: number;
  readonly socket: number;
  /** keyctl and the like, kexec, modules, bpf, perf_event_open, userfaultfd, open_by_handle_at, io_uring. */
  readonly refused: readonly number[];
  /** Here a second numbering of the same calls begins. */
  readonly alias?: number;
}

const IO_URING = [425, 426, 427];
const MACHINES: Readonly<Record<string, Machine>> = {
  x64: {
    audit: 0xc000003e,
    socket: 41,
    refused: [248, 249, 250, 246, 320, 175, 313, 176, 321, 298, 323, 304, ...IO_URING],
    alias: 0x40000000,
  },
  arm64: {
    audit: 0xc00000b7,
    socket: 198,
    refused: [217, 218, 219, 104, 294, 105, 273, 106, 280, 241, 282, 265, ...IO_URING],
  },
};

const AF_VSOCK = 40;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const failWith = (error: number) => 0x00050000 | error;

/** Where the kernel puts what the filter reads: the call's number, the machine, and the first argument. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;

/** One instruction; the two jumps say how many instructions to skip. */
type Instruction = readonly [code: number, ifSo: number, ifNot: number, value: number];

/** A filter of system calls for bubblewrap; undefined on machines whose numbers are not known here. */
export function systemCallFilter(architecture: string): Buffer | undefined {
  const machine = MACHINES[architecture];
  if (!machine || endianness() !== 'LE') return undefined;
  const { audit, socket, refused, alias } = machine;
  const refuse: Instruction = [RETURN, 0, 0, failWith(ENOSYS)];
  const program: Instruction[] = [
    [LOAD, 0, 0, ARCHITECTURE],
    [IF_EQUAL, 1, 0, audit],
    refuse,
    [LOAD, 0, 0, NUMBER],
    ...(alias === undefined ? [] : [[IF_AT_LEAST, 0, 1, alias] as const, refuse]),
    ...refused.flatMap((number) => [[IF_EQUAL, 0, 1, number] as const, refuse]),
    [IF_EQUAL, 0, 3, socket],
    [LOAD, 0, 0, FIRST_ARGUMENT],
    [IF_EQUAL, 0, 1, AF_VSOCK],
    [RETURN, 0, 0, failWith(EAFNOSUPPORT)],
    [RETURN, 0, 0, ALLOW],
  ];
  const bytes = Buffer.alloc(program.length * 8);
  for (const [i, [code, ifSo, ifNot, value]] of program.entries()) {
    bytes.writeUInt16LE(code, i * 8);
    bytes.writeUInt8(ifSo, i * 8 + 2);
    bytes.writeUInt8(ifNot, i * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, i * 8 + 4);
  }
  return bytes;
}
