import { chatProviders } from "./chat-providers.ts";
import type { MatrixEntry } from "./entry.ts";
import { sdkProviders } from "./sdk-providers.ts";

/** Rows of the matrix. A further provider is a further entry. */
export const matrix: MatrixEntry[] = [...sdkProviders, ...chatProviders];
