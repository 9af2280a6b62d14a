import { usageError } from "./exit-code.ts";
import { isOff, variableNameOf } from "./option.ts";

/** A setting of `serve` that has a new name: as a flag, as a variable and in the configuration file. */
interface RenamedSetting {
  old: string;
  name: string;
  /** Value that stands for an old switch that is on. */
  valueOfSwitch?: string;
}

/** Settings whose old names still work, with a warning. */
export const renamedSettings: readonly RenamedSetting[] = [
  { old: "trust-proxy", name: "trusted-proxies" },
  { old: "min-free-space", name: "min-free-disk" },
  { old: "audit-days", name: "audit-retention-days" },
  { old: "keep-exposed-keys", name: "revoke-exposed-keys", valueOfSwitch: "off" },
  { old: "oidc-domains", name: "oidc-allowed-domains" },
  { old: "otlp-content", name: "otlp-capture-content" },
  { old: "log", name: "log-format" },
];

/**
 * Replaces the old names of settings, and returns a warning for each and a fault for each setting that has a value under
 * both names. `spell` turns a setting's name into a key of `values`. Empty texts, and old switches that are off, count
 * as not set.
 */
export function renameSettings(values: Record<string, unknown>, spell = (name: string): string => name) {
  const [warnings, faults]: [string[], string[]] = [[], []];
  for (const { old, name, valueOfSwitch } of renamedSettings) {
    const [oldKey, key] = [spell(old), spell(name)];
    const value = values[oldKey];
    delete values[oldKey];
    if (isUnset(value) || (valueOfSwitch !== undefined && isOff(String(value)))) continue;
    if (isUnset(values[key])) {
      values[key] = valueOfSwitch ?? value;
      warnings.push(warningOf(oldKey, key, valueOfSwitch));
    } else faults.push(bothSet(oldKey, key));
  }
  return { warnings, faults };
}

/**
 * Replaces the old names of variables and returns warnings. If a setting has a variable under both names, the new one
 * counts: it may be that of a service's unit or an image, whose upgrade must not prevent a start.
 */
export function renameVariables(environment: Record<string, string | undefined>): string[] {
  const { warnings, faults } = renameSettings(environment, variableNameOf);
  return [...warnings, ...faults];
}

/** Replaces the old names of flags in the arguments of `serve`. Throws if a setting has a flag under both names. */
export function renameFlags(args: readonly string[]): { args: string[]; warnings: string[] } {
  const warnings = new Set<string>();
  const nameIn = (arg: string): string => arg.split("=", 1)[0] ?? arg;
  const renamed = args.map((arg) => {
    const setting = renamedSettings.find(({ old }) => nameIn(arg) === `--${old}`);
    if (!setting) return arg;
    const [oldFlag, flag] = [`--${setting.old}`, `--${setting.name}`];
    if (args.some((other) => nameIn(other) === flag)) throw usageError(bothSet(oldFlag, flag));
    warnings.add(warningOf(oldFlag, flag, setting.valueOfSwitch));
    return setting.valueOfSwitch === undefined ? arg.replace(oldFlag, flag) : `${flag}=${setting.valueOfSwitch}`;
  });
  return { args: renamed, warnings: [...warnings] };
}

const isUnset = (value: unknown): boolean => value === undefined || (typeof value === "string" && value.trim() === "");

const bothSet = (old: string, name: string): string =>
  `${old} is the old name of ${name}, and both are set: set ${name} alone.`;

const warningOf = (old: string, name: string, value?: string): string =>
  `${old} is the old name of ${value === undefined ? name : `${name} with the value ${value}`}, and will be removed: use the new one`;
