const encoder = new TextEncoder();

/** Returns the UTF-8 length of a text in bytes. */
export const byteLength = (text: string): number => encoder.encode(text).length;
