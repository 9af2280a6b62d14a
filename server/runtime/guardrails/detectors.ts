import { requireValue } from "../../lib/require-value.ts";
import { creditCards, ibans, partOf } from "./account-numbers.ts";
import { compile, type Pattern } from "./pattern/pattern.ts";
import type { Scanner, Span } from "./span.ts";
import { searchVerified, VerifiedScanner, type Verify, type VerifyPart } from "./verified.ts";

/** Finds spans in whole texts and in streamed texts. */
export interface Detector {
  /** Returns what the scanner finds in the whole text, in order and without overlaps. */
  search(text: string): Span[];
  scan(): Scanner;
  /** Does slow preparation of the first search in slices. */
  prepare?(rest: () => Promise<void>): Promise<void>;
}

const phone = [
  String.raw`\+[1-9](?:[ ().-]{0,2}\d){7,14}\b`,
  String.raw`\b00[1-9](?:[ .-]?\d){8,14}\b`,
  String.raw`(?:\([2-9]\d{2}\) ?|\b[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}\b`,
];
const ssn =
  String.raw`\b(?:00[1-9]|0[1-9]\d|[1-57-8]\d{2}|6[0-57-9]\d|66[0-57-9])[- ]` +
  String.raw`(?:0[1-9]|[1-9]\d)[- ](?:000[1-9]|00[1-9]\d|0[1-9]\d{2}|[1-9]\d{3})\b`;
const byte = String.raw`(?:25[0-5]|2[0-4]\d|1?\d?\d)`;
const ipAddress = [
  String.raw`\b(?:${byte}\.){3}${byte}\b`,
  String.raw`\b(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}\b`,
  String.raw`\b(?:[0-9A-Fa-f]{1,4}:){2,6}(?::[0-9A-Fa-f]{1,4}){1,5}\b`,
];

interface Looked {
  pattern: string;
  verify?: Verify;
  verifyPart?: VerifyPart;
}

const pii: Record<string, Looked> = {
  email: { pattern: String.raw`[\pL\pN.!#$%&'*+/=?^_{|}~-]+@[\pL\pN-]+(?:\.[\pL\pN-]+)*\.\pL[\pL\pN-]+` },
  phone: { pattern: phone.join("|") },
  credit_card: { pattern: String.raw`\b\d(?:[ -]?\d){12,18}\b`, verify: creditCards, verifyPart: partOf(creditCards) },
  iban: {
    pattern: String.raw`(?i)\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}\b`,
    verify: ibans,
    verifyPart: partOf(ibans),
  },
  ssn: { pattern: ssn },
  ip_address: { pattern: ipAddress.join("|") },
};

/** Kinds of personal data that `pii` can find. */
export const piiKinds: readonly string[] = Object.keys(pii);

const keyName = "(?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?";

// Formats of known issuers. A key without a format, such as 32 hexadecimal digits, looks like a harmless number.
const secrets = [
  String.raw`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`, // AWS
  String.raw`(?i:aws_secret_access_key)["']?\s{0,3}[=:]\s{0,3}["']?[A-Za-z0-9/+]{40}`,
  String.raw`\bgh[opsru]_[A-Za-z0-9]{36,}|\bgithub_pat_[A-Za-z0-9_]{22,}`, // GitHub
  String.raw`\bglpat-[A-Za-z0-9_-]{20,}`, // GitLab
  String.raw`\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Z0-9]+-\d+-[a-z0-9]+`, // Slack
  String.raw`\bhooks\.slack\.com/services/T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]+`,
  String.raw`\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9+/=]{24,}`, // Stripe, and our own
  String.raw`\bsk-[A-Za-z0-9_-]{32,}`, // OpenAI, Anthropic, and many like them
  String.raw`\bAIza[A-Za-z0-9_-]{35}|\bya29\.[A-Za-z0-9_-]{20,}|\bGOCSPX-[A-Za-z0-9_-]{28}`, // Google
  String.raw`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`, // JWT
  `-----BEGIN ${keyName}-----(?:[^-]*(?:-----END ${keyName}-----)?)`,
  String.raw`\bnpm_[A-Za-z0-9]{36,}|\bhf_[A-Za-z0-9]{30,}|\bgsk_[A-Za-z0-9]{40,}|\bdop_v1_[a-f0-9]{64}`,
  String.raw`\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}|\bSK[0-9a-f]{32}\b`, // SendGrid, Twilio
];

// Limit for our own patterns, larger than for clients' patterns.
const stepsMax = 10_000;
const detectorCache = new Map<string, Detector>();

/** Returns the detector of one kind of personal data. */
export const piiDetector = (kind: string): Detector =>
  once(kind, () => create(requireValue(pii[kind], `The detector of ${kind}`)));

export const secretDetector = (): Detector => once("secrets", () => create({ pattern: secrets.join("|") }));

/** Creates each detector on first use, because most servers need few of them. */
function once(name: string, make: () => Detector): Detector {
  const known = detectorCache.get(name) ?? make();
  detectorCache.set(name, known);
  return known;
}

function create({ pattern, verify, verifyPart }: Looked): Detector {
  const compiled = compile(pattern, stepsMax);
  return verify ? verifiedDetector(compiled, verify, verifyPart) : compiled;
}

/** Finds candidates by a pattern and verifies them in code. */
export const verifiedDetector = (pattern: Pattern, verify: Verify, verifyPart?: VerifyPart): Detector => ({
  search: searchVerified(pattern, verify),
  scan: () => new VerifiedScanner(pattern, verify, verifyPart),
});
