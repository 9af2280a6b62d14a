export const kindWords = { vector: "Passages", kv: "Keys" } as const;
export const scopeWords = { project: "Whole project", user: "Each user", session: "Each session" } as const;
