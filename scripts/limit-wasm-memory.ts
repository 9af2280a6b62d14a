const memorySection = 5;
const pageBytes = 65536;
const headBytes = 8;

/**
 * Returns the WebAssembly module with a maximum size of its one memory, so that the machine refuses more. Throws if it
 * has no memory of its own, or one that begins larger.
 */
export function limitWasmMemory(module: Uint8Array, most_bytes: number): Uint8Array {
  for (let at = headBytes; at < module.length; ) {
    const size = readNumber(module, at + 1);
    const end = size.end + size.value;
    if (module[at] === memorySection) {
      const section = limited(module.subarray(size.end, end), Math.floor(most_bytes / pageBytes));
      const head = Uint8Array.of(memorySection, ...number(section.length));
      return Buffer.concat([module.subarray(0, at), head, section, module.subarray(end)]);
    }
    at = end;
  }
  throw new Error("The module has no memory.");
}

/** One memory: its count, flags (1: there is a maximum), its first size in pages, and its maximum. */
function limited(section: Uint8Array, most_pages: number): Uint8Array {
  const [count, flags = 0] = section;
  const first = readNumber(section, 2);
  if (count !== 1 || flags > 1 || first.value > most_pages) throw new Error("The module's memory is of another kind.");
  return Uint8Array.of(1, 1, ...number(first.value), ...number(most_pages));
}

/** Reads an unsigned LEB128. */
function readNumber(bytes: Uint8Array, start: number): { value: number; end: number } {
  let [value, at] = [0, start];
  for (let factor = 1; ; factor *= 128, at++) {
    const byte = bytes[at] ?? 0;
    value += (byte & 127) * factor;
    if (byte < 128) return { value, end: at + 1 };
  }
}

function number(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...number(Math.floor(value / 128))];
}
