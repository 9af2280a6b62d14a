const browsers: [RegExp, string][] = [
  [/Edg(?:e|A|iOS)?\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\/|FxiOS\//, "Firefox"],
  [/Chrome\/|CriOS\//, "Chrome"],
  [/Safari\//, "Safari"],
  [/^curl\//, "curl"],
];
const systems: [RegExp, string][] = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/CrOS/, "ChromeOS"],
  [/Linux/, "Linux"],
];

/** Returns a short name for a user agent: `Firefox on Linux`, or `Unknown browser`. */
export function browserName(userAgent: string | null): string {
  const firstMatch = (patterns: [RegExp, string][]) => patterns.find(([pattern]) => pattern.test(userAgent ?? ""))?.[1];
  const [browser, system] = [firstMatch(browsers), firstMatch(systems)];
  return [browser ?? "Unknown browser", system && `on ${system}`].filter(Boolean).join(" ");
}
