/** `auto`: as strict as the system allows. `strict`: no start without the full jail. `off`: no code runs. */
export const sandboxFlags = ["auto", "strict", "off"] as const;
export type SandboxFlag = (typeof sandboxFlags)[number];
