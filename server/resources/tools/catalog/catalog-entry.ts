import type { CreateTool } from "../schema.ts";

/** An entry of the catalogue. Every module of this folder that exports `entry` is one. */
export interface CatalogEntry {
  title: string;
  /** Tells in a sentence what agents can do with its tools. */
  description: string;
  /** Settings that it needs, by name. */
  settings: Readonly<Record<string, CatalogSetting>>;
  /** Returns the tools. Every required setting is there, and every optional one that was given. */
  tools(settings: Readonly<Record<string, string>>): CreateTool[];
}

/** A text that the person who adds the entry gives. */
export interface CatalogSetting {
  title: string;
  description: string;
  required?: true;
  /** A password or key: kept with the master key and never shown again; `{{secret.NAME}}` names a stored secret. */
  secret?: true;
  /** For a setting that is not required. */
  default?: string;
}

/** Reads a list such as `a.com, b.com`; undefined if it is empty. */
export function listIn(text: string | undefined): string[] | undefined {
  const items = (text ?? "")
    .split(/[\s,;]+/)
    .map((item) => item.trim())
    .filter((item) => item !== "");
  return items.length === 0 ? undefined : [...new Set(items)];
}

export const apiKey = (description: string) =>
  ({ title: "API key", description, required: true, secret: true }) as const;

/** Hint for responses that refuse the key. */
export const refusedKey = "The service does not accept the API key. Its owner must set another one.";
