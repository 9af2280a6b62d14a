import type { Span } from "./span.ts";
import type { VerifyPart } from "./verified.ts";

/** Finds the numbers in a text that begin at `from` or later and before `to`. */
type FindNumbers = (text: string, from?: number, to?: number) => Span[];

// Longer than any of these numbers.
const reach = 128;

/** Finds numbers in a text that is still arriving; those that begin near its end are left undecided. */
export const partOf =
  (find: FindNumbers): VerifyPart =>
  (partialText, from) => {
    const decided = Math.max(from, partialText.length - reach);
    return { spans: find(partialText, from, decided), decided };
  };

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** Finds card numbers in digits, blanks and hyphens: 13 to 19 digits with a valid check digit. */
export function creditCards(text: string, from = 0, to = text.length): Span[] {
  const places = [...text.matchAll(/\d/g)].map(({ index }) => index);
  const digits = Uint8Array.from(places, (at) => text.charCodeAt(at) - 48);
  const found: Span[] = [];
  for (let first = 0; first + 13 <= digits.length; first++) {
    const [place, digit] = [places[first]!, digits[first]!];
    if (place >= to) break;
    if (place < from) continue;
    const isStart = place === 0 || !isDigit(text.charCodeAt(place - 1));
    if (!isStart || digit < 2 || digit > 6) continue;
    for (let last = Math.min(first + 18, digits.length - 1); last >= first + 12; last--) {
      const end = places[last]! + 1;
      if (isDigit(text.charCodeAt(end)) || !passesLuhn(digits, first, last)) continue;
      found.push([place, end]);
      break;
    }
  }
  return found;
}

function passesLuhn(digits: Uint8Array, first: number, last: number): boolean {
  let [sum, others] = [0, 0];
  for (let i = last; i >= first; i--) {
    const digit = digits[i]!;
    sum += (last - i) % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2;
    if (i > first) others += digit;
  }
  return sum % 10 === 0 && others > 0;
}

// IBAN length by country: without it one in a hundred words of this shape would pass the check.
const lengths: Record<string, number> = Object.fromEntries(
  (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 " +
    "ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 " +
    "LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 " +
    "QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
  )
    .split(" ")
    .map((each) => [each.slice(0, 2), Number(each.slice(2))]),
);

/** Finds IBANs in letters, digits, blanks and hyphens, with valid length and check digits. */
export function ibans(text: string, from = 0, to = text.length): Span[] {
  const found: Span[] = [];
  for (const { index } of text.matchAll(/(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}/g)) {
    if (index < from || index >= to) continue;
    let [number, end] = ["", index];
    const length = lengths[text.slice(index, index + 2).toUpperCase()] ?? 0;
    for (; number.length < length && end < text.length; end++)
      if (/[A-Za-z0-9]/.test(text.charAt(end))) number += text.charAt(end).toUpperCase();
    const isWhole = !/[A-Za-z0-9]/.test(text.charAt(end));
    if (number.length === length && length > 0 && isWhole && remainder(number) === 1) found.push([index, end]);
  }
  return found;
}

/** Returns an IBAN modulo 97, with letters read as numbers. */
function remainder(iban: string): number {
  let rest = 0;
  for (const char of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest;
}
