import { crc32 } from "node:zlib";

const pattern = /(?<![0-9A-Za-z_])sk_(?:test|live)_[0-9A-Za-z]{39}(?![0-9A-Za-z])/g;
const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The keys in a text. */
export const findKeys = (text) =>
  (text.match(pattern) ?? []).filter((key) => checksum(key.slice(0, -6)) === key.slice(-6));

function checksum(body) {
  let text = "";
  for (let rest = crc32(body); text.length < 6; rest = Math.floor(rest / 62)) text = digits[rest % 62] + text;
  return text;
}
