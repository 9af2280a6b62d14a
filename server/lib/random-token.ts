/** 256 bits that nobody guesses, for a cookie or behind the `#` of a link. */
export const randomToken = (): string =>
  crypto.getRandomValues(new Uint8Array(32)).toBase64({ alphabet: "base64url", omitPadding: true });
