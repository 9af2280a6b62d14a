import { addressOf, type Libc } from "./libc.ts";
import {
  clone,
  clone3,
  filesOfOwn,
  mapping,
  platformNumbers,
  prctl,
  prlimit,
  refusedCalls,
  refusedLoaded,
  refusedNative,
  seccomp,
  selfOnlyCalls,
} from "./syscalls.ts";

const [loadWord, jumpIfEqual, jumpIfAtLeast, jumpIfAnyBit, answer] = [0x20, 0x15, 0x35, 0x45, 0x06];
const [allow, kill, errno] = [0x7fff0000, 0x80000000, 0x00050000];
const [EPERM, ENOSYS, EACCES] = [1, 38, 13];
const [atNumber, atMachine, atFirstLow, atFirstHigh, atThirdLow] = [0, 4, 16, 20, 32];
const x32Numbers = 0x40000000;
const cloneThread = 0x10000;
const PR_SET_PDEATHSIG = 1;
const PROT_EXEC = 4;
const machine = process.arch === "x64" ? 0xc000003e : 0xc00000b7;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** Filters all later system calls of this thread and its later images. Needs `no_new_privs` and no privilege. */
export function filterSystemCalls(libc: Libc, own: number): boolean {
  const [PR_SET_SECCOMP, SECCOMP_MODE_FILTER] = [22, 2];
  return load(filter(own), (program) => libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program));
}

/** Refuses, for all threads of this process, calls that only its start needed, in addition to the first filter. */
export function filterLoaded(libc: Libc): boolean {
  const [SET_MODE_FILTER, ALL_THREADS] = [1, 1];
  const [number = 0] = platformNumbers([seccomp]);
  return load(filterOfLoaded(), (program) => libc.syscall(number, SET_MODE_FILTER, ALL_THREADS, program));
}

/**
 * Returns the instructions for a native interpreter, which installs them itself once it has loaded. It can open files,
 * of which its mounts have few, and load libraries, but start neither threads nor programs. `own` is its process id.
 */
export const filterOfNative = (own: number): Uint8Array<ArrayBuffer> =>
  encode([
    ...abiOnly,
    ...platformNumbers([...refusedNative, clone]).flatMap((number) => whenCalled(number, deny(EPERM))),
    ...filter(own, filesOfOwn).slice(abiOnly.length),
  ]);

function load(instructions: readonly Instruction[], install: (program: bigint) => number): boolean {
  const bytes = encode(instructions);
  const header = new BigUint64Array([BigInt(instructions.length), addressOf(bytes)]);
  return install(addressOf(header)) === 0;
}

function encode(instructions: readonly Instruction[]): Uint8Array<ArrayBuffer> {
  const program = new DataView(new ArrayBuffer(instructions.length * 8));
  for (const [at, [code, ifTrue, ifFalse, value]] of instructions.entries()) {
    program.setUint16(at * 8, code, true);
    program.setUint8(at * 8 + 2, ifTrue);
    program.setUint8(at * 8 + 3, ifFalse);
    program.setUint32(at * 8 + 4, value >>> 0, true);
  }
  return new Uint8Array(program.buffer);
}

// On another ABI (32 bit, x32) the same number is another call; our code never uses one.
const abiOnly: Instruction[] = [
  [loadWord, 0, 0, atMachine],
  [jumpIfEqual, 1, 0, machine],
  [answer, 0, 0, kill],
  [loadWord, 0, 0, atNumber],
  [jumpIfAtLeast, 0, 1, x32Numbers],
  [answer, 0, 0, kill],
];

/** `without`: a group of calls that stays allowed. */
function filter(own: number, without?: string): Instruction[] {
  const refused = Object.entries(refusedCalls).filter(([group]) => group !== without);
  return [
    ...abiOnly,
    ...platformNumbers(refused.flatMap(([, calls]) => calls)).flatMap((number) => whenCalled(number, deny(EACCES))),
    ...platformNumbers([clone3]).flatMap((number) => whenCalled(number, deny(ENOSYS))),
    ...platformNumbers([clone]).flatMap((number) => whenCalled(number, onlyThreads)),
    ...platformNumbers(selfOnlyCalls).flatMap((number) => whenCalled(number, onlyFirst(own))),
    ...platformNumbers([prlimit]).flatMap((number) => whenCalled(number, onlyFirst(0))),
    ...platformNumbers([prctl]).flatMap((number) => whenCalled(number, refuseDeathSignalChange)),
    [answer, 0, 0, allow],
  ];
}

/** The first filter, which stays active, has already checked the ABI. */
const filterOfLoaded = (): Instruction[] => [
  [loadWord, 0, 0, atNumber],
  ...platformNumbers(Object.values(refusedLoaded).flat()).flatMap((number) => whenCalled(number, deny(EACCES))),
  ...platformNumbers(mapping).flatMap((number) => whenCalled(number, notExecutable)),
  [answer, 0, 0, allow],
];

/** Runs `then` for this call. The call's number is in the accumulator before, and still is if it is another call. */
const whenCalled = (number: number, then: Instruction[]): Instruction[] => [
  [jumpIfEqual, 0, then.length, number],
  ...then,
];

const deny = (error: number): Instruction[] => [[answer, 0, 0, errno | error]];

const onlyThreads: Instruction[] = [
  [loadWord, 0, 0, atFirstLow],
  [jumpIfAnyBit, 0, 1, cloneThread],
  [answer, 0, 0, allow],
  [answer, 0, 0, errno | EPERM],
];

/** The argument is an `int`, so the upper half of the word is ignored. */
const refuseDeathSignalChange: Instruction[] = [
  [loadWord, 0, 0, atFirstLow],
  [jumpIfEqual, 0, 1, PR_SET_PDEATHSIG],
  [answer, 0, 0, errno | EPERM],
  [answer, 0, 0, allow],
];

const notExecutable: Instruction[] = [
  [loadWord, 0, 0, atThirdLow],
  [jumpIfAnyBit, 0, 1, PROT_EXEC],
  [answer, 0, 0, errno | EPERM],
  [answer, 0, 0, allow],
];

/** Checks both halves: a process id has 32 bits, but other calls may use all 64. */
const onlyFirst = (value: number): Instruction[] => [
  [loadWord, 0, 0, atFirstHigh],
  [jumpIfEqual, 0, 3, 0],
  [loadWord, 0, 0, atFirstLow],
  [jumpIfEqual, 0, 1, value],
  [answer, 0, 0, allow],
  [answer, 0, 0, errno | EPERM],
];
