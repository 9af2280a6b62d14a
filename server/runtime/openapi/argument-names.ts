const lengthMost = 64;

/** Gives each argument a name that models and URL templates take: unique, and the same for the same document. */
export function createArgumentNames() {
  const taken = new Set<string>();
  return (name: string, place: string): string => {
    const plain = cleaned(name);
    for (let count = 0; ; count++) {
      const candidate = count === 0 ? plain : cleaned(`${place}_${plain}${count === 1 ? "" : `_${count}`}`);
      if (taken.has(candidate)) continue;
      taken.add(candidate);
      return candidate;
    }
  };
}

function cleaned(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]+/g, "_").replaceAll(/^_+(?=.)|_+$/g, "");
  const begun = /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
  // A long name keeps its end, where names of nested fields differ.
  return begun.length <= lengthMost ? begun : `${begun.slice(0, 31)}_${begun.slice(-32)}`;
}
