import { bedrock } from "./bedrock.ts";
import { chatProviders } from "./chat-providers.ts";
import type { MatrixEntry } from "./entry.ts";
import { sdkProviders } from "./sdk-providers.ts";
import { vertexProviders } from "./vertex.ts";

/** Rows of the matrix. A further provider is a further entry. */
export const matrix: MatrixEntry[] = [...sdkProviders, bedrock, ...vertexProviders, ...chatProviders];
