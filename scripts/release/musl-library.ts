// Functions that musl does not have, each with the one that is called in its place.
const replaced = {
  __memcpy_chk: "memcpy", // Ignores its last argument, which the checking one has more.
  __fread_chk: "abort", // Of a function that reads NumPy's files, which runnel does not call.
};

/**
 * Returns sqlite-vec's library for Linux as musl can load it. It is published for glibc alone, and asks for two functions
 * of its own that check lengths: their names in the library's table of strings are replaced. Throws if one is not there.
 */
export function muslLibrary(library: Buffer): Buffer {
  const copy = Buffer.from(library);
  for (const [name, other] of Object.entries(replaced)) {
    const at = copy.indexOf(`\0${name}\0`, 0, "latin1");
    if (at === -1) throw new Error(`sqlite-vec's library does not ask for ${name}: look again at what musl lacks.`);
    copy.fill(0, at + 1, at + 1 + name.length);
    copy.write(other, at + 1, "latin1");
  }
  return copy;
}
