/** A run's id, as somebody pasted it: by itself, or within an address. */
export const readRunId = (text: string): string | null => text.match(/\brun_[0-9a-z]{10,40}\b/)?.[0] ?? null;
