/** Returns 256 random bits as text, for a cookie or a URL fragment. */
export const randomToken = (): string =>
  crypto.getRandomValues(new Uint8Array(32)).toBase64({ alphabet: "base64url", omitPadding: true });
