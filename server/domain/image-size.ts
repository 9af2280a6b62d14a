/** Width and height of an image in pixels. */
interface Size {
  width: number;
  height: number;
}

/** Returns the size of a PNG, JPEG, GIF or WebP by its header; null if the header has none. */
export function imageSize(content: Uint8Array): Size | null {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  try {
    if (content[0] === 0x89) return { width: view.getUint32(16), height: view.getUint32(20) };
    if (content[0] === 0x47) return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
    if (content[0] === 0x52) return webpSize(content, view);
    return content[0] === 0xff ? jpegSize(view) : null;
  } catch {
    return null; // The header is cut.
  }
}

function webpSize(content: Uint8Array, view: DataView): Size | null {
  const form = String.fromCharCode(...content.subarray(12, 16));
  const three = (at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16) + 1;
  if (form === "VP8X") return { width: three(24), height: three(27) };
  if (form === "VP8 ") return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  if (form !== "VP8L") return null;
  const bits = view.getUint32(21, true);
  return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
}

/** Looks for the frame header among the segments. */
function jpegSize(view: DataView): Size | null {
  for (let at = 2; at < view.byteLength; ) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    // Fill bytes may stand before a marker.
    if (marker === 0xff) {
      at++;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    at += 2 + view.getUint16(at + 2);
  }
  return null;
}
