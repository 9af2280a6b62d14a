import { encodeQR } from "qr";

/** Quiet zone of four modules on each side, required by ISO/IEC 18004. */
const border = 4;

/** A QR code, dark on light in every theme, because many readers cannot read inverted ones. */
export function QrCode({ text, name }: { text: string; name: string }) {
  const rows = encodeQR(text, "raw", { border });
  const dark = rows.flatMap((row, y) => row.flatMap((is, x) => (is ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg
      role="img"
      aria-label={name}
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      shapeRendering="crispEdges"
      className="size-45 rounded-md"
    >
      <rect width="100%" height="100%" fill="#fff" />
      <path d={dark.join("")} fill="#000" />
    </svg>
  );
}
