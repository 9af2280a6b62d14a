import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { piiDetector, piiKinds, secretDetector } from "./detectors.ts";
import type { Span } from "./span.ts";

const texts = (text: string, spans: Span[]) => spans.map(([start, end]) => text.slice(start, end));
const pii = (kind: string, text: string) => texts(text, piiDetector(kind).search(text));

describe("pii", () => {
  test.each<[string, string, string[]]>([
    ["email", "Write to a.b+c@mail.example.co.uk, or <Ä@münchen.de>.", ["a.b+c@mail.example.co.uk", "Ä@münchen.de"]],
    ["email", "a@b, @c.de, a @ b.de, 3@4", []],
    [
      "phone",
      "+49 30 901820, +1 (212) 555-1234; 212-555-1234; (212) 555 1234",
      ["+49 30 901820", "+1 (212) 555-1234", "212-555-1234", "(212) 555 1234"],
    ],
    ["phone", "0049 30 901820", ["0049 30 901820"]],
    ["phone", "1234567890, 2026-11-21, 10.0.0.1, 555-12, run 20 of 300, 1212-555-12345", []],
    [
      "credit_card",
      "4111 1111 1111 1111, 5500-0000-0000-0004; 378282246310005",
      ["4111 1111 1111 1111", "5500-0000-0000-0004", "378282246310005"],
    ],
    ["credit_card", "No 12 4111111111111111 or 4111 1111 1111 1111 99", ["4111111111111111", "4111 1111 1111 1111"]],
    ["credit_card", "4111 1111 1111 1112, 0000000000000000, 1234567890123456, 24111111111111111", []],
    [
      "iban",
      "DE89 3704 0044 0532 0130 00, gb29nwbk60161331926819.",
      ["DE89 3704 0044 0532 0130 00", "gb29nwbk60161331926819"],
    ],
    ["iban", "To NO9386011117947 today and NOW", ["NO9386011117947"]],
    ["iban", "DE88 3704 0044 0532 0130 00, AB12 CDEF GHIJ KLMN OPQR", []],
    ["ssn", "078-05-1120 and 078 05 1120", ["078-05-1120", "078 05 1120"]],
    ["ssn", "000-12-3456, 666-12-3456, 900-12-3456, 123-00-4567, 123-45-0000, 1234-56-7890", []],
    [
      "ip_address",
      "From 192.168.0.255 to 2001:db8::8a2e:370:7334 and 1:2:3:4:5:6:7:8",
      ["192.168.0.255", "2001:db8::8a2e:370:7334", "1:2:3:4:5:6:7:8"],
    ],
    ["ip_address", "256.1.1.1x, 1.2.3, 12:30:45, std::vector, aa:bb:cc:dd:ee:ff", []],
  ])("%s in %p: %p", (kind, text, expected) => {
    expect(pii(kind, text)).toEqual(expected);
  });

  test("every card number among other digits is found", () => {
    const parts = ["22", "1", "0", "4111 1111 1111 1111", "5500-0000-0000-0004", "378282246310005", "3", "90"];
    const list = fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(list, fc.constantFrom(" ", "-"), (numbers, between) => {
        const text = numbers.join(between);
        const found = piiDetector("credit_card").search(text);
        let at = 0;
        for (const number of numbers) {
          const end = at + number.length;
          if (number.length > 2) expect(found.some(([from, to]) => from <= at && end <= to)).toBe(true);
          at = end + 1;
        }
      }),
      { numRuns: 500 },
    );
  });

  test("ordinary prose has no findings", () => {
    const prose =
      "In 2026 we sold 1,234,567 pieces (12.5 %) at 19.99 each; see section 3.2.1 of ISO 8601-1:2019, or call a colleague at 9:30.";
    for (const kind of piiKinds) expect(pii(kind, prose)).toEqual([]);
  });
});

describe("secrets", () => {
  const find = (text: string) => texts(text, secretDetector().search(text));
  const x = (length: number) => "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7".repeat(10).slice(0, length);

  test.each([
    "AKIAIOSFODNN7EXAMPLE",
    `ghp_${x(36)}`,
    `github_pat_${x(40)}`,
    `glpat-${x(20)}`,
    `xoxb-1234567890-${x(20)}`,
    `sk_live_${x(39)}`,
    `sk_test_${x(24)}`,
    `rk_live_${x(24)}`,
    `whsec_${x(43)}=`,
    `sk-${x(48)}`,
    `sk-proj-${x(60)}`,
    `sk-ant-api03-${x(80)}`,
    `AIza${x(35)}`,
    `npm_${x(36)}`,
    `hf_${x(34)}`,
    `SG.${x(22)}.${x(43)}`,
    `eyJ${x(20)}.eyJ${x(30)}.${x(43)}`,
    `-----BEGIN RSA PRIVATE KEY-----\n${x(64)}\n${x(20)}==\n-----END RSA PRIVATE KEY-----`,
    `-----BEGIN OPENSSH PRIVATE KEY-----\n${x(64)}`,
  ])("%p", (secret) => {
    expect(find(`The key is ${secret}`)).toEqual([secret]);
    expect(find(`KEY="${secret}"`)[0]).toStartWith(secret.slice(0, 20));
  });

  test("the key behind an AWS variable", () => {
    expect(find(`export AWS_SECRET_ACCESS_KEY=${x(40)} `)).toEqual([`AWS_SECRET_ACCESS_KEY=${x(40)}`]);
  });

  test.each([
    "task-list, sk-learn, risk-free-and-other-words, pk_live_0123456789abcdef01",
    "a1b2c3d4e5f60718293a4b5c6d7e8f90",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "550e8400-e29b-41d4-a716-446655440000",
    "ghp_short, AKIA, eyJhbGciOi",
    "run_01jc5m8q3v4w5x6y7z8a9b0c1d",
  ])("not %p", (text) => {
    expect(find(text)).toEqual([]);
  });
});
