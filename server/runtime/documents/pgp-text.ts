/** Parts of a text that PGP wrote. */
const signed = /^-----BEGIN PGP SIGNED MESSAGE-----\n(?:[\w-]+: .*\n)*\n/gm;
const block =
  /^-----BEGIN PGP (SIGNATURE|PUBLIC KEY BLOCK|MESSAGE)-----\n[\s\S]*?(?:^-----END PGP \1-----\n?|$(?![\s\S]))/gm;

/** Returns the text without signatures and keys, and whether a part of it is encrypted. Signatures are not verified. */
export function readPgpText(text: string): { text: string; isEncrypted: boolean } {
  if (!text.includes("-----BEGIN PGP ")) return { text, isEncrypted: false };
  let isEncrypted = false;
  const bare = text.replace(block, (_, kind: string) => {
    isEncrypted ||= kind === "MESSAGE";
    return "";
  });
  const isSigned = signed.test(bare);
  signed.lastIndex = 0;
  const plain = bare.replace(signed, "");
  return { text: isSigned ? plain.replace(/^- /gm, "") : plain, isEncrypted };
}
