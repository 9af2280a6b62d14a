const lengthMax = 64;

/** Returns a name that every provider accepts in a conversation: models make up names such as `functions.look`. */
export const mendName = (name: string): string => name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, lengthMax) || "tool";
